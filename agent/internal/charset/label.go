package charset

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// Lenient reads text that is only looked at and never written back: a byte order mark decides, then the label that the text
// came with, as in a Content-Type; without a known label it is UTF-8, or Windows-1252 when it is not. What does not decode
// becomes U+FFFD.
func Lenient(data []byte, label string) string {
	enc := labelled(label)
	switch {
	case bytes.HasPrefix(data, []byte(bom8)):
		enc, data = nil, data[len(bom8):]
	case bytes.HasPrefix(data, []byte(bomLE)):
		enc, data = UTF16LE.encoding(), data[2:]
	case bytes.HasPrefix(data, []byte(bomBE)):
		enc, data = UTF16BE.encoding(), data[2:]
	case enc == nil && !isUTF8(label):
		text, c, err := Decode(data)
		if err == nil && c != UTF8 {
			return text
		}
		if !mostlyUTF8(data) {
			enc = charmap.Windows1252
		}
	}
	if enc != nil {
		if text, err := enc.NewDecoder().Bytes(data); err == nil {
			data = text
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

func isUTF8(label string) bool {
	label = strings.ToLower(strings.TrimSpace(label))
	return label == "utf-8" || label == "utf8"
}

// mostlyUTF8 allows for a text that was cut or has a stray byte.
func mostlyUTF8(data []byte) bool {
	bad := strings.Count(string(bytes.ToValidUTF8(data, []byte("\uFFFD"))), "\uFFFD")
	high := 0
	for _, c := range data {
		if c >= 0xc2 {
			high++
		}
	}
	return bad*2 < high || high == 0
}

// labelled knows the names of charsets that are still met on the web; nil for others and UTF-8.
func labelled(label string) encoding.Encoding {
	switch strings.ToLower(strings.TrimSpace(label)) {
	case "iso-8859-1", "latin1", "iso8859-1", "windows-1252", "cp1252", "us-ascii", "ascii":
		return charmap.Windows1252 // as browsers do
	case "iso-8859-2", "latin2":
		return charmap.ISO8859_2
	case "iso-8859-5":
		return charmap.ISO8859_5
	case "iso-8859-7", "greek":
		return charmap.ISO8859_7
	case "iso-8859-9", "latin5", "windows-1254":
		return charmap.Windows1254
	case "iso-8859-15", "latin9":
		return charmap.ISO8859_15
	case "windows-1250", "cp1250":
		return charmap.Windows1250
	case "windows-1251", "cp1251":
		return charmap.Windows1251
	case "windows-1253":
		return charmap.Windows1253
	case "windows-1255":
		return charmap.Windows1255
	case "windows-1256":
		return charmap.Windows1256
	case "windows-1257":
		return charmap.Windows1257
	case "windows-1258":
		return charmap.Windows1258
	case "koi8-r", "koi8":
		return charmap.KOI8R
	case "koi8-u":
		return charmap.KOI8U
	case "gb2312", "gbk", "gb18030", "x-gbk":
		return simplifiedchinese.GB18030
	case "big5", "big5-hkscs":
		return traditionalchinese.Big5
	case "shift_jis", "shift-jis", "sjis", "windows-31j", "x-sjis":
		return japanese.ShiftJIS
	case "euc-jp", "x-euc-jp":
		return japanese.EUCJP
	case "iso-2022-jp":
		return japanese.ISO2022JP
	case "euc-kr", "ks_c_5601-1987", "windows-949":
		return korean.EUCKR
	case "utf-16", "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}
