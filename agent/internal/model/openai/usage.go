package openai

import (
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/openai"
)

// convertUsage reads the token counts in all their shapes; nil when there are none.
func convertUsage(u *openai.Usage) *model.Usage {
	if u == nil || u.PromptTokens == nil && u.CompletionTokens == nil && u.InputTokens == nil && u.OutputTokens == nil &&
		u.PromptCacheHitTokens == nil && u.PromptCacheMissTokens == nil && u.TotalTokens == nil {
		return nil
	}
	out := model.Usage{Output: first(u.CompletionTokens, u.OutputTokens)}
	var details *uint64
	if u.PromptTokensDetails != nil {
		details = u.PromptTokensDetails.CachedTokens
	}
	out.Cached = first(u.PromptCacheHitTokens, details, u.CacheReadInputTokens)
	switch {
	case u.PromptTokens != nil:
		out.Input = *u.PromptTokens
	case u.InputTokens != nil: // without what the cache gave and took
		out.Input = *u.InputTokens + first(u.CacheReadInputTokens) + first(u.CacheCreationInputTokens)
	default:
		out.Input = first(u.PromptCacheHitTokens) + first(u.PromptCacheMissTokens)
		if total := first(u.TotalTokens); out.Input == 0 && total > out.Output {
			out.Input = total - out.Output
		}
	}
	out.Cached = min(out.Cached, out.Input)
	if d := u.CompletionTokensDetails; d != nil {
		out.Reasoning = min(first(d.ReasoningTokens), out.Output)
	}
	return &out
}

// first is the first count that is there.
func first(counts ...*uint64) uint64 {
	for _, n := range counts {
		if n != nil {
			return *n
		}
	}
	return 0
}
