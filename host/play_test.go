package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
)

// play is the main function of the agents that the tests launch: roles, joined
// by commas. Each writes its process id to the file HOST_TEST_PIDS.
//
//	wrap,ROLE    starts ROLE on its own pipes, waits for it and exits as it does
//	nurse,ROLE   is good, with a child ROLE that has its pipes
//	escape,ROLE  the same, with a child that has left the group
//	good         answers
//	fails        says so and exits with status 7
//	stays        does nothing, for ever
//	stubborn     the same, and SIGTERM too
//	crash        is good until its prompt, where it says much and exits with status 3
//	deaf         closes its output
//	flood        sends updates for ever, whatever its input
//	chatty       says very much before it is good
//	args         answers initialize with its arguments as its name
func play(roles string) int {
	record(os.Getenv("HOST_TEST_PIDS"))
	role, rest, _ := strings.Cut(roles, ",")
	switch role {
	case "wrap":
		err := child(rest).Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		return 0
	case "nurse":
		if err := child(rest).Start(); err != nil {
			return 1
		}
		_ = serve(os.Stdin, os.Stdout, fake{})
	case "escape":
		cmd := child(rest)
		leaveGroup(cmd)
		if err := cmd.Start(); err != nil {
			return 1
		}
		_ = serve(os.Stdin, os.Stdout, fake{})
	case "good":
		_ = serve(os.Stdin, os.Stdout, fake{})
	case "fails":
		fmt.Fprintln(os.Stderr, "out of luck")
		return 7
	case "stays":
		time.Sleep(time.Hour)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	case "crash":
		_ = serve(os.Stdin, os.Stdout, fake{prompt: func(ctx context.Context, c acp.Client, p *acp.PromptRequest) (*acp.PromptResponse, error) {
			if len(p.Prompt) > 0 && p.Prompt[0].(*acp.TextContent).Text == "wait" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			_ = c.SessionUpdate(ctx, message(p.SessionID, "half"))
			time.Sleep(100 * time.Millisecond) // it is on the wire
			for i := range 1000 {
				fmt.Fprintln(os.Stderr, "panic: line", i)
			}
			os.Exit(3)
			return nil, nil
		}})
	case "deaf":
		os.Stdout.Close()
		time.Sleep(time.Hour)
	case "flood":
		_ = serve(os.Stdin, os.Stdout, fake{prompt: func(_ context.Context, _ acp.Client, p *acp.PromptRequest) (*acp.PromptResponse, error) {
			for { // past the connection, which would stop at the end of input
				if _, err := os.Stdout.WriteString(text(string(p.SessionID), "and on ") + "\n"); err != nil {
					return nil, err
				}
			}
		}})
	case "chatty":
		for i := range 20_000 {
			fmt.Fprintln(os.Stderr, "line", i, strings.Repeat("-", 80))
		}
		_ = serve(os.Stdin, os.Stdout, fake{})
	case "args":
		_ = serve(os.Stdin, os.Stdout, fake{name: strings.Join(os.Args[1:], "|")})
	default:
		fmt.Fprintln(os.Stderr, "no role", role)
		return 2
	}
	return 0
}

func child(roles string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HOST_TEST_AGENT="+roles)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

func record(file string) {
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, os.Getpid())
}
