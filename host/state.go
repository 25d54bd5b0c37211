package host

import (
	"slices"

	"github.com/acpkit/acpkit/generated/acp"
)

// State is what a session last told about itself, in answers or in updates, in
// or outside a turn.
type State struct {
	Modes         *acp.SessionModeState
	ConfigOptions []acp.SessionConfigOption
	Commands      []acp.AvailableCommand
	Title         string
}

// apply takes an update. Each list replaces the last one.
func (s *State) apply(u acp.SessionUpdate) {
	switch u := u.(type) {
	case *acp.CurrentModeUpdate:
		modes := acp.SessionModeState{}
		if s.Modes != nil {
			modes = *s.Modes
		}
		modes.CurrentModeID = u.CurrentModeID
		s.Modes = &modes
	case *acp.ConfigOptionUpdate:
		s.ConfigOptions = u.ConfigOptions
	case *acp.AvailableCommandsUpdate:
		s.Commands = u.AvailableCommands
	case *acp.SessionInfoUpdate:
		if u.Title.Set { // null takes it away
			s.Title = ""
			if u.Title.Value != nil {
				s.Title = *u.Title.Value
			}
		}
	}
}

// State returns what the session last told about itself.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.ConfigOptions = slices.Clone(state.ConfigOptions)
	state.Commands = slices.Clone(state.Commands)
	return state
}

// settle takes the answer that opened the session.
func (s *Session) settle(answer State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer.Modes != nil {
		s.state.Modes, s.Modes = answer.Modes, answer.Modes
	}
	if answer.ConfigOptions != nil {
		s.state.ConfigOptions, s.ConfigOptions = answer.ConfigOptions, answer.ConfigOptions
	}
}

// overlay puts what early says over the state.
func (s *Session) overlay(early *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if early.Modes != nil {
		s.state.apply(&acp.CurrentModeUpdate{CurrentModeID: early.Modes.CurrentModeID})
	}
	if early.ConfigOptions != nil {
		s.state.ConfigOptions = early.ConfigOptions
	}
	if early.Commands != nil {
		s.state.Commands = early.Commands
	}
	if early.Title != "" {
		s.state.Title = early.Title
	}
}
