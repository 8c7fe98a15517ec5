import type { Remark } from './conversation.ts'

/** All records of one message are in memory at once, so their number has a limit. */
export const partsMax = 10_000

type Part =
  | { readonly type: 'text' | 'thinking'; readonly text: string; readonly isPinned?: true | undefined }
  | { readonly type: 'call' | 'file' }

/** Returns at most `partsMax` parts of a message: texts that follow each other are joined, and the rest is left out. */
export function boundParts<Given extends Part>(
  parts: readonly Given[],
  line: number,
  remark: Remark,
): readonly Given[] {
  if (parts.length <= partsMax) return parts
  const runs: { readonly part: Given; readonly texts: string[] }[] = []
  for (const part of parts) {
    const last = runs.at(-1)
    const text = 'text' in part ? part.text : null
    if (text !== null && last?.part.type === part.type && isPinned(last.part) === isPinned(part)) last.texts.push(text)
    else runs.push({ part, texts: text === null ? [] : [text] })
  }
  if (runs.length < parts.length)
    remark(line, 'parts_joined', `A message has ${parts.length} parts; texts that follow each other were joined.`)
  const left = runs.length - partsMax
  if (left > 0) remark(line, 'parts_dropped', `${left} parts of a message with more than ${partsMax} were left out.`)
  return runs
    .slice(0, partsMax)
    .map(({ part, texts }) => (texts.length > 1 ? { ...part, text: texts.join('\n\n') } : part))
}

const isPinned = (part: Part): boolean => 'isPinned' in part && part.isPinned === true
