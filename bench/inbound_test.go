package bench

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/rpc"
)

// The whole inbound path, frame → envelope → typed value in a handler, through
// each side's connection, but without pipes and without a host's own work.
// Requests are answered, too. Lines come in batches of 64, so that neither side
// has more than 64 waiting.
func BenchmarkInbound(b *testing.B) {
	const batch = 64
	for _, c := range []struct{ name, method, params string }{
		{"chunk", acp.MethodSessionUpdate, chunk},
		{"initreq", acp.MethodInitialize, initRequest},
		{"diff20k", acp.MethodSessionUpdate, diff},
		{"perm", acp.MethodSessionRequestPermission, permission},
	} {
		var lines bytes.Buffer
		for i := range batch {
			lines.WriteString(`{"jsonrpc":"2.0",`)
			if c.method != acp.MethodSessionUpdate {
				lines.WriteString(`"id":` + strconv.Itoa(i) + ",")
			}
			lines.WriteString(`"method":"` + c.method + `","params":` + c.params + "}\n")
		}
		for _, s := range []struct {
			side  string
			start func(f *feed, method string) (wait func())
		}{{"ours", ourReceiver}, {"sdk", sdkReceiver}} {
			b.Run(c.name+"/"+s.side, func(b *testing.B) {
				f := &feed{batches: make(chan []byte), size: batch, done: make(chan struct{})}
				wait := s.start(f, c.method)
				b.ReportAllocs()
				defer cpu(b)()
				for b.Loop() {
					f.batches <- lines.Bytes()
					<-f.done
				}
				b.ReportMetric(batch, "items")
				close(f.batches)
				wait()
			})
		}
	}
}

// feed is the reader and the writer of a connection: it gives a batch of lines
// and tells when each has been handled or answered.
type feed struct {
	batches chan []byte
	rest    []byte
	size    int64
	count   atomic.Int64
	done    chan struct{}
}

func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		var ok bool
		if f.rest, ok = <-f.batches; !ok {
			return 0, io.EOF
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Write counts answers.
func (f *feed) Write(p []byte) (int, error) {
	f.handled(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}

func (f *feed) handled(n int) {
	if f.count.Add(int64(n)) == f.size {
		f.count.Store(0)
		f.done <- struct{}{}
	}
}

func ourReceiver(f *feed, _ string) (wait func()) {
	agent := acp.AgentHandlers{Initialize: func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
		return &acp.InitializeResponse{ProtocolVersion: acp.Version}, nil
	}}
	client := acp.ClientHandlers{
		SessionUpdate: func(context.Context, *acp.SessionNotification) error { f.handled(1); return nil },
		SessionRequestPermission: func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			return &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}, nil
		},
	}
	conn := rpc.New(f, f, rpc.Config{Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
		if req.Method == acp.MethodInitialize {
			return agent.Handle(ctx, req.Method, req.ID == "", req.Params)
		}
		return client.Handle(ctx, req.Method, req.ID == "", req.Params)
	}})
	var running sync.WaitGroup
	running.Go(func() { _ = conn.Run(context.Background()) })
	return running.Wait
}

func sdkReceiver(f *feed, method string) (wait func()) {
	if method == acp.MethodInitialize {
		return sdkAgent(f, f, 0)
	}
	conn := sdk.NewClientSideConnection(&sdkHostSide{update: func() { f.handled(1) }}, f, f)
	conn.SetLogger(quiet)
	return func() { <-conn.Done() }
}
