package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/openai"
)

// Checked is what Check found out.
type Checked struct {
	Asked bool // a model call was made, since the list of models proves nothing or is not there; it costs a token or two
	// Listed says that the model is among Models. It may be usable without: some ids are older names.
	Listed bool
	Models []string // what the endpoint offers, sorted; nil when it gives no list
}

// Check finds out whether the endpoint is reached and takes the key, and what models it has. The failure is a *model.Error,
// whose class says which of these it was: Unreachable, KeyRefused, OutOfFunds, NotFound (the address, or the model when a
// call was made) and so on; or it is that of ctx, which should have a deadline.
func (c *Client) Check(ctx context.Context) (Checked, error) {
	var found Checked
	models, err := c.models(ctx)
	var e *model.Error
	switch {
	case err == nil:
		found.Models = models
		found.Listed = slices.Contains(models, c.cfg.Model)
		if !c.dialect.PublicModels {
			return found, nil
		}
	case errors.As(err, &e) && (e.Status == 404 || e.Status == 405 || e.Status == 501 || e.Status == 200):
	default:
		return found, err
	}
	found.Asked = true
	return found, c.ask(ctx)
}

// models asks for the list.
func (c *Client) models(ctx context.Context) ([]string, error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := c.do(running, http.MethodGet, "models", nil)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c.failed(ctx, c.refused(resp))
	}
	defer resp.Body.Close()
	body, err := readAll(resp, maxList)
	if err != nil {
		return nil, c.failed(ctx, &model.Error{Cut: true, Err: err})
	}
	var list openai.ModelList
	if err := list.UnmarshalJSON(body); err != nil {
		return nil, c.failed(ctx, &model.Error{Status: resp.StatusCode, Message: c.endpoint() + "/models gave no list of models", Err: err})
	}
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids, nil
}

const maxList = 8 << 20 // bytes of a list of models

// errEnough ends the answer to a question whose answer does not matter.
var errEnough = errors.New("enough")

// ask makes the smallest model call. Its first words prove all there is to prove.
func (c *Client) ask(ctx context.Context) error {
	small := *c
	small.cfg.MaxOutputTokens = 16 // fewer are refused by some
	req := &model.Request{Messages: []model.Message{{Role: model.User, Text: "Say OK."}}}
	_, err := small.Stream(ctx, req, func(model.Delta) error { return errEnough })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// readAll reads a body that must not be longer than limit.
func readAll(resp *http.Response, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errTooLong
	}
	return body, err
}
