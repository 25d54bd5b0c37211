package redact

import "strings"

type Redactor struct{}

func New(s ...string) *Redactor                 { return &Redactor{} }
func (r *Redactor) Text(s string) string        { return strings.Clone(s) }
func (r *Redactor) Clip(s string, n int) string { return s[:min(n, len(s))] }
