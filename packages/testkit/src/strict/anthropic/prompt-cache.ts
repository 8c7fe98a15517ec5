import { z } from 'zod'

const Block = z.looseObject({ type: z.string().optional(), cache_control: z.unknown().optional() })
type Block = z.infer<typeof Block>
const Blocks = z.union([z.string().transform((text): Block[] => [{ type: 'text', text }]), z.array(Block)])
const Body = z.looseObject({
  model: z.string(),
  tools: z.array(Block).default([]),
  system: Blocks.default([]),
  messages: z.array(z.looseObject({ role: z.string(), content: Blocks })),
})

type Piece = { readonly at: string; readonly type: string; readonly text: string; readonly isMarked: boolean }
type CacheUse = { readonly cache_read_input_tokens: number; readonly cache_creation_input_tokens: number }

const marksMax = 4
/** The number of pieces before a cache mark that the service compares with its cache. */
const lookBack = 20

/** Returns the service's error message for the cache marks of a request, or null. */
export function marksComplaint(body: unknown): string | null {
  const marked = piecesOf(body).filter(({ isMarked }) => isMarked)
  if (marked.length > marksMax) {
    return `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marked.length}.`
  }
  const thinking = marked.find(({ type }) => type === 'thinking' || type === 'redacted_thinking')
  return thinking === undefined ? null : `${thinking.at}: cache_control cannot be set for ${thinking.type} blocks`
}

/**
 * Creates the prompt cache of the service. It stores everything up to a cache mark and finds it only if all bytes are the
 * same. Marks themselves are not stored. Four bytes count as one token.
 */
export function createPromptCache() {
  const cached = new Set<string>()
  return {
    take(body: unknown): CacheUse {
      const pieces = piecesOf(body)
      const prefixes = pieces.map((_piece, index) => prefixOf(pieces, index))
      const marks = pieces.flatMap(({ isMarked }, index) => (isMarked ? [index] : []))
      const found = marks.map((mark) =>
        prefixes.findLastIndex((key, at) => at <= mark && at > mark - lookBack && cached.has(key)),
      )
      const read = sizeOf(pieces, Math.max(-1, ...found))
      for (const mark of marks) cached.add(prefixes[mark] ?? '')
      const last = sizeOf(pieces, Math.max(-1, ...marks))
      return { cache_read_input_tokens: read, cache_creation_input_tokens: Math.max(0, last - read) }
    },
  }
}

const prefixOf = (pieces: readonly Piece[], index: number): string =>
  JSON.stringify(pieces.slice(0, index + 1).map(({ text }) => text))

const sizeOf = (pieces: readonly Piece[], index: number): number =>
  Math.ceil(pieces.slice(0, index + 1).reduce((sum, { text }) => sum + text.length, 0) / 4)

/** Returns the pieces of a request in the order of the cache: tools, instructions, messages. */
function piecesOf(body: unknown): readonly Piece[] {
  const parsed = Body.safeParse(body)
  if (!parsed.success) return []
  const { model, tools, system, messages } = parsed.data
  const piece = (at: string, { cache_control: mark, ...block }: Block, role = ''): Piece => ({
    at,
    type: block.type ?? 'tool',
    text: `${model} ${role} ${JSON.stringify(block)}`,
    isMarked: mark !== undefined && mark !== null,
  })
  return [
    ...tools.map((tool, index) => piece(`tools.${index}`, tool)),
    ...system.map((block, index) => piece(`system.${index}`, block)),
    ...messages.flatMap(({ role, content }, message) =>
      content.map((block, index) => piece(`messages.${message}.content.${index}`, block, role)),
    ),
  ]
}
