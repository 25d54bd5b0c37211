package markdown

import "github.com/acpkit/acpkit/gen/internal/model"

// rowsOf are the promises about one method, or with "" those about the
// connection.
func (s *site) rowsOf(method string) (rows []model.ContractRow) {
	for _, r := range s.rows {
		if r.Method == method {
			rows = append(rows, r)
		}
	}
	return rows
}

// reasons is the enum of the stopReason member of a method's result, nil when it
// has none.
func reasons(m *model.Method) *model.Type {
	if m.Result != nil {
		for _, f := range m.Result.Fields {
			if f.Name == "stopReason" && f.Type.Kind == model.ToType && f.Type.Type.Kind == model.Enum {
				return f.Type.Type
			}
		}
	}
	return nil
}
