package agent

import (
	"context"
	"encoding/json"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// setupMethod is the id of the terminal auth method: the host launches the
// agent's program with these arguments in a terminal.
const setupMethod = "reasonix-setup"

var setupArgs = []string{"setup"}

// initialize answers the one version that we speak, whatever was asked, and
// what the set handlers can do. Source: initialization; seed 26-36.
func (c *connection) initialize(_ context.Context, p *reasonix.InitializeRequest) (*acp.InitializeResponse, error) {
	c.host.Store(p.ClientCapabilities.Session)
	return &acp.InitializeResponse{
		ProtocolVersion: acp.Version,
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:         c.handlers.SessionLoad != nil,
			SessionCapabilities: c.sessionCapabilities(),
			PromptCapabilities:  acp.PromptCapabilities{EmbeddedContext: true},
			Auth:                acp.AgentAuthCapabilities{Logout: marker[acp.LogoutCapabilities](c.handlers.Logout != nil)},
			Meta:                c.extensions(),
		},
		AgentInfo: &acp.Implementation{Name: "reasonix", Title: new("Reasonix"), Version: c.conf.Version},
		// Listed whether or not the host announced auth.terminal (seed 14).
		AuthMethods: []acp.AuthMethod{&acp.AuthMethodTerminal{ID: setupMethod, Name: "Reasonix setup", Args: setupArgs,
			Description: new("Choose a model provider and enter its key, in a terminal.")}},
	}, nil
}

func (c *connection) sessionCapabilities() acp.SessionCapabilities {
	h := &c.handlers
	return acp.SessionCapabilities{
		List:   marker[acp.SessionListCapabilities](h.SessionList != nil),
		Delete: marker[acp.SessionDeleteCapabilities](h.SessionDelete != nil),
		Resume: marker[acp.SessionResumeCapabilities](h.SessionResume != nil),
		Close:  marker[acp.SessionCloseCapabilities](h.SessionClose != nil),

		AdditionalDirectories: &acp.SessionAdditionalDirectoriesCapabilities{},
	}
}

// extensions are the vendor's capabilities.
func (c *connection) extensions() json.RawMessage {
	m := reasonix.AgentCapabilitiesMetadata{}
	if c.handlers.ReasonixSessionStatus != nil {
		m.ReasonixIoSessionStatus = &reasonix.VersionCapability{SchemaVersion: statusVersion}
		m.ReasonixIoSessionStatusUpdate = &reasonix.VersionCapability{SchemaVersion: statusVersion}
	}
	return m.AppendJSON(nil)
}

// marker is the empty object that says a capability is there.
func marker[T any](there bool) *T {
	if !there {
		return nil
	}
	return new(T)
}

// tolerant makes params of initialize that are no proper object an empty one: a
// host must get an answer before it can be told anything. Members that do not
// fit count as absent by the schema.
func tolerant(params json.RawMessage) json.RawMessage {
	if new(reasonix.InitializeRequest).UnmarshalJSON(params) != nil {
		return json.RawMessage("{}")
	}
	return params
}
