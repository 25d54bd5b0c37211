package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// control serves the paths below /_, which are not recorded.
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	var result any
	var err error
	switch r.Method + " " + r.URL.Path {
	case "GET /_requests":
		result, err = s.waitFor(r)
	case "DELETE /_requests":
		s.Forget()
		result = struct{}{}
	case "POST /_script":
		var src []byte
		if src, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err == nil {
			err = s.SetScript(src)
		}
		result = struct{}{}
	case "POST /_release":
		var numbers []int
		if numbers, err = queryNumbers(r, "number"); err == nil {
			result = map[string]int{"released": s.Release(numbers...)}
		}
	default:
		http.Error(w, "there is no "+r.Method+" "+r.URL.Path, http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result) // a client that has gone needs no answer
}

// waitFor is GET /_requests: the record, once there is as much as the query wants.
func (s *Server) waitFor(r *http.Request) ([]Request, error) {
	wanted, err := queryNumbers(r, "calls")
	if err != nil {
		return nil, err
	}
	hanging, err := queryNumbers(r, "hanging")
	if err != nil {
		return nil, err
	}
	return s.Wait(r.Context(), func(list []Request) bool {
		hang := 0
		for _, r := range list {
			if r.State == StateHanging {
				hang++
			}
		}
		return len(calls(slices.Clone(list))) >= most(wanted) && hang >= most(hanging)
	})
}

func queryNumbers(r *http.Request, name string) ([]int, error) {
	var list []int
	for _, text := range r.URL.Query()[name] {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s=%s is no number", name, text)
		}
		list = append(list, n)
	}
	return list, nil
}

func most(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return slices.Max(list)
}
