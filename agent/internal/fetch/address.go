package fetch

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"
)

// privateError is an address that is not fetched from.
type privateError struct{ addr netip.Addr }

func (e *privateError) Error() string { return fmt.Sprintf("%v is not a public address", e.addr) }

// checkPublic is a net.Dialer's ControlContext, called with the address that is about to be connected to.
func checkPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !public(at.Addr()) {
		return &privateError{at.Addr()}
	}
	return nil
}

// public reports whether an address is one of the internet: neither of this machine nor of this network, nor a group, nor
// reserved, nor an IPv6 form that leads to an IPv4 address which is none.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	if a.Is4() {
		b := a.As4()
		switch {
		case b[0] == 0, b[0] >= 240,
			b[0] == 100 && b[1]&0xc0 == 64,           // shared by a provider's customers
			b[0] == 192 && b[1] == 0 && b[2] == 0,    // protocol assignments
			b[0] == 192 && b[1] == 0 && b[2] == 2,    // documentation
			b[0] == 198 && b[1]&0xfe == 18,           // benchmarks
			b[0] == 198 && b[1] == 51 && b[2] == 100, // documentation
			b[0] == 203 && b[1] == 0 && b[2] == 113,  // documentation
			b[0] == 192 && b[1] == 88 && b[2] == 99:  // relays
			return false
		}
		return true
	}
	b := a.As16()
	switch {
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b: // NAT64
		return b[4]|b[5] == 0 && public(netip.AddrFrom4([4]byte(b[12:])))
	case b[0] == 0x20 && b[1] == 0x02: // 6to4
		return public(netip.AddrFrom4([4]byte(b[2:6])))
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0: // Teredo
		return false
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8: // documentation
		return false
	}
	return b[0]&0xe0 == 0x20 // all that is given out so far is in 2000::/3
}
