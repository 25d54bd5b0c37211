package charset

import (
	"bytes"
	"strings"
	"unicode"
)

// guess finds the charset of bytes that are not UTF-8. Exactly one must fit.
func guess(data []byte) (string, Charset, error) {
	if bytes.ContainsFunc(data, func(r rune) bool { return r != '\uFFFD' && r < 0x80 && unlikely(r) }) {
		return "", UTF8, ErrUnsure
	}
	found, text := UTF8, ""
	for _, c := range []Charset{Windows1252, GB18030, ShiftJIS} {
		decoded, err := c.strict(data)
		if err != nil || !c.fits(data, decoded) {
			continue
		}
		if found != UTF8 {
			return "", UTF8, ErrUnsure
		}
		found, text = c, decoded
	}
	if found == UTF8 {
		return "", UTF8, ErrUnsure
	}
	return text, found, nil
}

func (c Charset) fits(data []byte, text string) bool {
	switch c {
	case Windows1252:
		return western(text)
	case GB18030:
		return chinese(text)
	case ShiftJIS:
		return japaneseText(text)
	}
	return false
}

// The letters beyond ASCII of languages that are written in Windows-1252. A text in a neighbouring charset (Windows-1250,
// 1251, 1254, ISO 8859-2, DOS, Macintosh), read as Windows-1252, soon mixes letters that no language has together.
func alphabets() []string {
	return []string{
		"äöüßéàêè",         // German, with loan words
		"àâæçéèêëîïôœùûüÿ", // French
		"áéíñóúüçªº",       // Spanish
		"ãáàâçéêíóôõúüª",   // Portuguese
		"àèéìíîòóùú",       // Italian
		"åäöéàüæøè",        // Danish, Norwegian, Swedish, Finnish
		"ëïéóèöüáêí",       // Dutch
		"áðéíóúýþæö",       // Icelandic
		"àçèéíïòóúü",       // Catalan
	}
}

// western reports whether a text that was read as Windows-1252 must be that: words with single accented letters, signs
// where signs stand, and nothing else.
func western(text string) bool {
	letters, high, longest, run := map[rune]bool{}, 0, 0, 0
	runes := []rune(text)
	for i, r := range runes {
		if r < 0x80 {
			run = 0
			continue
		}
		high++
		run++
		longest = max(longest, run)
		before, after := at(runes, i-1), at(runes, i+1)
		switch {
		case unlikely(r): // bytes that Windows-1252 leaves undefined
			return false
		case r == 'ª' || r == 'º':
			if isLetter(after) {
				return false
			}
		case unicode.IsLetter(r) && r != 'ƒ' && r != 'ˆ' && r != 'µ':
			letters[unicode.ToLower(r)] = true
		case !sign(r, before, after):
			return false
		}
	}
	if longest > 2 || high*4 > len(runes) && high > 1 {
		return false
	}
	for _, alphabet := range alphabets() {
		if containsAll(alphabet, letters) {
			return true
		}
	}
	return false
}

// sign reports whether a sign can stand between these two.
func sign(r, before, after rune) bool {
	switch r {
	case '’', '–', '—', '…', '·', '\u00ad', '\u00a0':
		return true // may stand inside a word
	case '“', '‘', '°':
		return !isLetter(before) || !isLetter(after)
	case '‚', '„', '«', '¿', '¡':
		return !isLetter(before)
	case '”', '»', '®', '©', '™', '²', '³', '¹':
		return !isLetter(after)
	case '€', '£', '§', '×', '÷', '±', '•', '¢', '¥', '¼', '½', '¾', 'µ', '†', '‰', '‹', '›', '¬', '¶', '¦':
		return !isLetter(before) && !(isLetter(after) && r != 'µ')
	}
	return false
}

func at(runes []rune, i int) rune {
	if i < 0 || i >= len(runes) {
		return ' '
	}
	return runes[i]
}

func isLetter(r rune) bool { return unicode.IsLetter(r) }

func containsAll(alphabet string, letters map[rune]bool) bool {
	for r := range letters {
		if !strings.ContainsRune(alphabet, r) {
			return false
		}
	}
	return true
}

// Characters that stand in almost any Chinese text, those of software texts included. Text in another charset that happens
// to be valid GB18030 (Korean, Japanese, Big5) decodes to characters at random, of which few are among these.
const common = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里" +
	"用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重" +
	"文件字名数据值类型函参返回错误读写打行列表串示例测试输入默认配置设路径请注释说明调节信息程序编码变量对象初始化添加删除修改取得获新建结果状态内容更查找版本标题接口服务支持保存目录选项"

// chinese reports whether a text that was read as GB18030 must be that.
func chinese(text string) bool {
	han, known, other := 0, 0, 0
	for _, r := range text {
		switch {
		case r < 0x80:
		case unicode.Is(unicode.Han, r):
			han++
			if strings.ContainsRune(common, r) {
				known++
			}
		case r >= 0x3000 && r <= 0x3020, r >= 0xff01 && r <= 0xff5e, r >= 0x2010 && r <= 0x2026, r == '·', r == '×', r == '→':
			// punctuation
		default:
			other++
		}
	}
	return han >= 4 && known >= 2 && known*4 >= han && other*20 <= han
}

// japaneseText reports whether a text that was read as Shift JIS must be that: no Japanese does without kana.
func japaneseText(text string) bool {
	kana, han, half, other := 0, 0, 0, 0
	for _, r := range text {
		switch {
		case r < 0x80:
		case r >= 0x3041 && r <= 0x30fe:
			kana++
		case r >= 0xff61 && r <= 0xff9f:
			half++
		case unicode.Is(unicode.Han, r):
			han++
		case r >= 0x3000 && r <= 0x3020, r >= 0xff01 && r <= 0xff5e, r >= 0x2010 && r <= 0x2026, r == '×', r == '→':
			// punctuation
		default:
			other++
		}
	}
	return kana >= 3 && kana*4 >= kana+han && half*10 <= kana && other*20 <= kana+han
}
