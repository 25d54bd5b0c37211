//go:build !unix

package host_test

func playTree(string) {}
