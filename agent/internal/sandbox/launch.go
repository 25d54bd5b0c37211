package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
)

// launchOptions is what a launcher is told. It travels as flags, which a person can read in a list of processes; nothing
// in it is secret.
type launchOptions struct {
	Engine  Engine
	Limits  Limits
	Env     *Env // nil: the environment is right already
	Program []string

	inner bool // the process that confines itself and becomes the program
}

func (o *launchOptions) args() []string {
	args := []string{"--engine", string(o.Engine)}
	if o.inner {
		args = append(args, "--inner")
	}
	if o.Limits.Network {
		args = append(args, "--network")
	}
	if o.Limits.Temp != "" {
		args = append(args, "--temp", o.Limits.Temp)
	}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"--write", o.Limits.Write}, {"--hide", o.Limits.Hide}, {"--protect", o.Limits.Protect}} {
		for _, v := range list.values {
			args = append(args, list.flag, v)
		}
	}
	if o.Env != nil {
		env, err := json.Marshal(o.Env)
		if err != nil { // two lists of strings
			panic(err)
		}
		args = append(args, "--env", string(env))
	}
	return append(append(args, "--"), o.Program...)
}

func parseLaunch(args []string) (*launchOptions, error) {
	o := &launchOptions{}
	for len(args) > 0 {
		flag := args[0]
		args = args[1:]
		switch flag {
		case "--":
			if o.Program = args; len(args) == 0 {
				return nil, errors.New("no command after --")
			}
			return o, nil
		case "--inner":
			o.inner = true
			continue
		case "--network":
			o.Limits.Network = true
			continue
		}
		if len(args) == 0 {
			return nil, fmt.Errorf("%s: a value is missing", flag)
		}
		value := args[0]
		args = args[1:]
		switch flag {
		case "--engine":
			o.Engine = Engine(value)
		case "--temp":
			o.Limits.Temp = value
		case "--write":
			o.Limits.Write = append(o.Limits.Write, value)
		case "--hide":
			o.Limits.Hide = append(o.Limits.Hide, value)
		case "--protect":
			o.Limits.Protect = append(o.Limits.Protect, value)
		case "--env":
			o.Env = &Env{}
			if err := json.Unmarshal([]byte(value), o.Env); err != nil {
				return nil, fmt.Errorf("--env: %w", err)
			}
		default:
			return nil, fmt.Errorf("unknown flag %s", flag)
		}
	}
	return nil, errors.New("usage: sandbox [--engine bubblewrap|landlock|none] [--network] [--temp DIR] [--write DIR]… [--hide PATH]… [--protect PATH]… -- COMMAND [ARG]…")
}
