package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnv(t *testing.T) {
	keep := []string{"PATH=/bin", "HOME=/root", "PWD=/w", "OLDPWD=/", "LANG=C", "MONKEY=x", "KEYBOARD=us", "PASSAGE=x", "AUTHOR=me", "XDG_SESSION_ID=1", "EMPTY=", "PROXY=http://proxy:80/", "TASK=sk-etch",
		"GO_TOKEN=passed", "DEEPSEEK_API_KEY_OLD2=", "URL=https://me@host/x", "A=b=c"}
	keep = append(keep[:14], keep[15:]...) // the last but two is dropped by its name
	drop := []string{"DEEPSEEK_API_KEY=x", "deepseek_api_key=x", "AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=x", "NPM_AUTH=x", "PGPASSWORD=x", "DB_PASS=x", "SSH_PRIVATE=x", "MODEL_ID=x",
		"A=sk-abcdefghijklmnopqrst", "A=token ghp_abcdefghijklmnopqrst", "A=-----BEGIN RSA PRIVATE KEY-----", "A=postgres://me:pw@host/db", "BASH_ENV=x", "ENV=x", "BASH_FUNC_ls%%=() { rm x; }", "noequals", "=C:=C:\\x",
		"DEEPSEEK_API_KEY_OLD2="}
	drop = append(drop[:17:17], drop[18:]...)
	got := Env{Drop: []string{"MODEL_ID"}, Pass: []string{"GO_TOKEN"}}.Filter(append(append([]string{}, keep...), drop...))
	if d := cmp.Diff(keep, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
