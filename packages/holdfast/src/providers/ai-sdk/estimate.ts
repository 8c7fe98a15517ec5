import type { AssistantPart, ModelRequest, ToolResultPart, UserPart } from '@holdfast/core/ports'
import { fileTokens, type Price, textTokens, type Usage } from '@holdfast/protocol'
import { costOf } from './usage.ts'

/** About what a call used whose service did not count. */
export function estimateOf(request: ModelRequest, saidChars: number, price: Price | null): Usage {
  const { system, tools, messages } = request
  let input = textTokens(system) + (tools.length === 0 ? 0 : textTokens(JSON.stringify(tools)))
  for (const { content } of messages) for (const part of content) input += partTokens(part)
  const counts = { input, output: Math.ceil(saidChars / 4), cacheRead: 0, cacheWrite: 0 }
  return { ...counts, cost: costOf(counts, price) }
}

function partTokens(part: UserPart | AssistantPart | ToolResultPart): number {
  if ('text' in part) return textTokens(part.text)
  if (part.type === 'file') return fileTokens({ mediaType: part.mediaType, bytes: part.bytes.byteLength })
  return textTokens(part.tool) + textTokens(JSON.stringify(part.args))
}
