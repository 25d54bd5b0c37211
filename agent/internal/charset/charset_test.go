package charset

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

const (
	german    = "// Die Größe wird geprüft; „für“ den Fall, daß sie über 5 € liegt – später.\r\nint größe = 3;\r\n"
	french    = "# Le café où l'élève a reçu la tâche « déjà faite », naïve cœur.\n"
	spanish   = "-- ¿Dónde está el año? Aquí: mañana, 25 °C.\n"
	swedish   = "Räksmörgås på ön, 20 % dyrare\n"
	mandarin  = "// 打开文件，读取数据。如果返回错误，则打印信息\nfunc main() {} // 这是一个测试\n"
	nihongo   = "// ファイルを開いて、データを読みます。\r\nint main() { return 0; } // これはテストです\r\n"
	russian   = "// Это тестовая строка, которая должна быть прочитана\n"
	polish    = "// Zażółć gęślą jaźń, proszę nacisnąć przycisk\n"
	czech     = "// Příliš žluťoučký kůň úpěl ďábelské ódy\n"
	hungarian = "// Árvíztűrő tükörfúrógép, első és második\n"
	turkish   = "// Dosya açılamadı, lütfen geçerli bir yol girişi yapın, ağ\n"
	hangul    = "// 파일을 열고 데이터를 읽습니다. 오류가 발생하면 메시지를 출력합니다\n"
	greek     = "// Το αρχείο δεν βρέθηκε\n"
	classical = "// 開啟檔案，讀取資料。如果發生錯誤，則顯示訊息\n"
)

func encode(t *testing.T, enc encoding.Encoding, text string) []byte {
	t.Helper()
	data, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecode(t *testing.T) {
	le, be := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	tests := []struct {
		name string
		data []byte
		want Charset
		text string
	}{
		{"empty", nil, UTF8, ""},
		{"ascii", []byte("a\n"), UTF8, "a\n"},
		{"utf-8", []byte(german + mandarin), UTF8, german + mandarin},
		{"utf-8 with a mark", []byte(bom8 + "é\r\n"), UTF8BOM, "é\r\n"},
		{"only a mark", []byte(bom8), UTF8BOM, ""},
		{"utf-16 le", encode(t, le, "é\r\n😀 "+mandarin), UTF16LE, "é\r\n😀 " + mandarin},
		{"utf-16 be", encode(t, be, russian), UTF16BE, russian},
		{"utf-16, only a mark", []byte(bomLE), UTF16LE, ""},
		{"one letter", []byte("caf\xe9"), Windows1252, "café"},
		{"german", encode(t, charmap.Windows1252, german), Windows1252, german},
		{"french", encode(t, charmap.Windows1252, french), Windows1252, french},
		{"spanish", encode(t, charmap.ISO8859_1, spanish), Windows1252, spanish},
		{"swedish", encode(t, charmap.ISO8859_1, swedish), Windows1252, swedish},
		{"gbk", encode(t, simplifiedchinese.GBK, mandarin), GB18030, mandarin},
		{"gb18030", encode(t, simplifiedchinese.GB18030, mandarin+"𠮷"), GB18030, mandarin + "𠮷"},
		{"shift jis", encode(t, japanese.ShiftJIS, nihongo), ShiftJIS, nihongo},
	}
	for _, test := range tests {
		text, c, err := Decode(test.data)
		if err != nil || c != test.want || text != test.text {
			t.Errorf("%s: %q, %v, %v", test.name, text, c, err)
			continue
		}
		if back, err := c.Encode(text); err != nil || !bytes.Equal(back, test.data) {
			t.Errorf("%s: back to %x, %v; was %x", test.name, back, err, test.data)
		}
	}
}

// What is not sure is refused, and not taken for a charset that would fit the bytes as well.
func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"nul", []byte("a\x00b"), ErrBinary},
		{"nul behind a mark", []byte(bom8 + "a\x00b"), ErrBinary},
		{"utf-32", []byte("\xff\xfe\x00\x00a\x00\x00\x00"), ErrBinary},
		{"utf-16, half a character", []byte(bomLE + "a\x00b"), ErrUnsure},
		{"utf-16, lone surrogate", []byte(bomLE + "a\x00\x00\xd8b\x00"), ErrUnsure},
		{"utf-16 without a mark", []byte("a\x00b\x00"), ErrBinary},
		{"broken utf-8 with a mark", []byte(bom8 + "\xff"), ErrUnsure},
		{"two marks", []byte(bom8 + bom8 + "a"), ErrUnsure},
		{"two marks, utf-16", []byte(bomLE + bomLE + "a\x00"), ErrUnsure},
		{"cut utf-8", []byte(mandarin[:len("// 打")-1] + "\n"), ErrUnsure},
		{"latin with control characters", []byte("\x01caf\xe9"), ErrUnsure},
		{"two bytes", []byte("\x80\x81"), ErrUnsure},
		{"short chinese", encode(t, simplifiedchinese.GBK, "数据"), ErrUnsure},
		{"windows-1251", encode(t, charmap.Windows1251, russian), ErrUnsure},
		{"koi8-r", encode(t, charmap.KOI8R, russian), ErrUnsure},
		{"cp866", encode(t, charmap.CodePage866, russian), ErrUnsure},
		{"iso-8859-5", encode(t, charmap.ISO8859_5, russian), ErrUnsure},
		{"windows-1250 polish", encode(t, charmap.Windows1250, polish), ErrUnsure},
		{"iso-8859-2 polish", encode(t, charmap.ISO8859_2, polish), ErrUnsure},
		{"windows-1250 czech", encode(t, charmap.Windows1250, czech), ErrUnsure},
		{"windows-1250 hungarian", encode(t, charmap.Windows1250, hungarian), ErrUnsure},
		{"windows-1254 turkish", encode(t, charmap.Windows1254, turkish), ErrUnsure},
		{"windows-1253 greek", encode(t, charmap.Windows1253, greek), ErrUnsure},
		{"cp850 french", encode(t, charmap.CodePage850, "# Le café où l'élève a reçu la tâche\n"), ErrUnsure},
		{"macintosh german", encode(t, charmap.Macintosh, "// Die Größe wird geprüft für\n"), ErrUnsure},
		{"euc-kr", encode(t, korean.EUCKR, hangul), ErrUnsure},
		{"euc-jp", encode(t, japanese.EUCJP, nihongo), ErrUnsure},
		{"big5", encode(t, traditionalchinese.Big5, classical), ErrUnsure},
	}
	for _, test := range tests {
		if text, c, err := Decode(test.data); err != test.want {
			t.Errorf("%s: taken for %v: %q, %v; want %v", test.name, c, text, err, test.want)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	tests := []struct {
		c    Charset
		text string
		want string
	}{
		{Windows1252, "a\nb → c", `line 2 has the character '→' (U+2192), which Windows-1252, the character set of the file, lacks`},
		{ShiftJIS, nihongo + "é", `line 3 has the character 'é' (U+00E9), which Shift JIS, the character set of the file, lacks`},
		{GB18030, "a\xff", ErrUnsure.Error()},
		{UTF8, "a\xff", ErrUnsure.Error()},
		{UTF8, "a\x00", ErrBinary.Error()},
		{Windows1252, "caf\u00e9 \u00d0\u00f8\u00e7", errUnstable.Error()},
		{GB18030, "数据", errUnstable.Error()},
	}
	for _, test := range tests {
		data, err := test.c.Encode(test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("%v %q: %x, %v; want %s", test.c, test.text, data, err, test.want)
		}
	}
	var lacks *Unencodable
	if _, err := Windows1252.Encode("→"); !errors.As(err, &lacks) || lacks.Rune != '→' || lacks.Line != 1 {
		t.Errorf("%v", err)
	}
}

// Whatever the bytes: what is decoded comes back the same, and what is encoded is read as it was.
func TestRoundTripProperty(t *testing.T) {
	pieces := [][]byte{[]byte(" "), []byte("\n"), []byte("x = 1"), []byte(bom8), []byte(bomLE), []byte(bomBE), []byte("caf\xe9"), []byte("\x93so\x94"),
		encode(t, simplifiedchinese.GBK, mandarin), encode(t, japanese.ShiftJIS, nihongo), encode(t, charmap.Windows1252, german), encode(t, charmap.Windows1250, czech), []byte(russian)}
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.SliceOfN(rapid.Byte(), 0, 6))
		data := bytes.Join(rapid.SliceOfN(piece, 0, 5).Draw(rt, "pieces"), nil)
		text, c, err := Decode(data)
		if err != nil {
			return
		}
		if back, err := c.Encode(text); err != nil || !bytes.Equal(back, data) {
			rt.Errorf("%v %q: back to %x, %v; was %x", c, text, back, err, data)
		}
		edited := text + rapid.SampledFrom([]string{"", "é", "数据", "テスト", "x", "→", "\ufeff", "\x00"}).Draw(rt, "added")
		written, err := c.Encode(edited)
		if err != nil {
			return
		}
		if again, _, err := Decode(written); err != nil || again != strings.TrimPrefix(edited, mark) {
			rt.Errorf("%v: %q was written as %x, which is read as %q, %v", c, edited, written, again, err)
		}
	})
}
