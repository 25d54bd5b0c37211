package provider_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"github.com/acpkit/acpkit/conformance/provider"
)

// runAgent stands for an agent that asks twice.
func runAgent(base string) {
	for range 2 {
		resp, err := http.Post(base+"/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
		if err != nil {
			log.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func Example() {
	s, err := provider.Start(provider.Config{Script: []byte(`{"status":503}
{"text":"Hello."}`)})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	runAgent(s.URL() + "/v1") // yours
	calls := s.Calls()
	fmt.Println(len(calls), "calls, the retry is identical:", bytes.Equal(calls[0].Body, calls[1].Body))
	// Output: 2 calls, the retry is identical: true
}
