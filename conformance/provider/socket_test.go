package provider

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		os.Exit(code)
	}))
}

// start starts a server that ends with the test.
func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// scripted starts a server with these lines as its script.
func scripted(t *testing.T, lines ...string) *Server {
	t.Helper()
	return start(t, Config{Script: []byte(strings.Join(lines, "\n"))})
}

const streamed = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`

// seen is an answer as it came over the socket.
type seen struct {
	status int
	header textproto.MIMEHeader
	chunks []string // of the body, as HTTP cut it; a body with a length is one
	ending string   // "end": properly, "close", "reset"
}

func (s seen) body() string { return strings.Join(s.chunks, "") }

// conn is a client that reads bytes itself: no library may mend what is wrong with them.
type conn struct {
	t *testing.T
	net.Conn
	*bufio.Reader
}

// post sends a model call and returns the connection for the answer.
func post(t *testing.T, s *Server, body string) *conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer sk-test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err != nil {
		t.Fatal(err)
	}
	return &conn{t, c, bufio.NewReader(c)}
}

// head reads the status and the headers.
func (c *conn) head() (seen, error) {
	line, err := c.ReadString('\n')
	if err != nil {
		return seen{}, err
	}
	status, err := strconv.Atoi(strings.Fields(line)[1])
	if err != nil {
		c.t.Fatalf("status line %q", line)
	}
	header, err := textproto.NewReader(c.Reader).ReadMIMEHeader()
	return seen{status: status, header: header}, err
}

// chunk reads one chunk of a body; "" is the end.
func (c *conn) chunk() (string, error) {
	line, err := c.ReadString('\n')
	if err != nil {
		return "", err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 32)
	if err != nil {
		c.t.Fatalf("chunk size %q", line)
	}
	data := make([]byte, size+2)
	if n, err := io.ReadFull(c.Reader, data); err != nil {
		return string(data[:n]), err
	}
	if !bytes.HasSuffix(data, []byte("\r\n")) {
		c.t.Fatalf("chunk %q has no end", data)
	}
	return string(data[:size]), nil
}

// all reads the answer to its end.
func (c *conn) all() seen {
	c.t.Helper()
	s, err := c.head()
	if err == nil && s.header.Get("Content-Length") != "" {
		length, _ := strconv.Atoi(s.header.Get("Content-Length"))
		data := make([]byte, length)
		_, err = io.ReadFull(c.Reader, data)
		s.chunks = []string{string(data)}
	} else {
		for err == nil {
			var chunk string
			if chunk, err = c.chunk(); chunk == "" {
				break
			}
			s.chunks = append(s.chunks, chunk)
		}
	}
	switch {
	case err == nil:
		s.ending = "end"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		s.ending = "close"
	case errors.Is(err, syscall.ECONNRESET):
		s.ending = "reset"
	default:
		c.t.Fatal(err)
	}
	return s
}

// ask makes one streaming call and reads its answer.
func ask(t *testing.T, s *Server) seen {
	t.Helper()
	return post(t, s, streamed).all()
}

// payloads are the data of a stream's events, without what is the same in all chunks.
func payloads(t *testing.T, body string) []string {
	t.Helper()
	var list []string
	for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok {
			t.Fatalf("%q is no event", event)
		}
		if rest, ok := strings.CutPrefix(data, `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[`); ok {
			data = rest
		}
		list = append(list, data)
	}
	return list
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
