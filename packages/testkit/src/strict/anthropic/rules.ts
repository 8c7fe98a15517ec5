import { type AnthropicMessage, type AnthropicRequest, isThinking, type ThinkingBlock, type WireBlock } from './wire.ts'

/** An answer of the service. Its thinking may only be sent back unchanged. */
export type GivenAnswer = {
  readonly thinking: readonly ThinkingBlock[]
  readonly uses: readonly { readonly name: string; readonly input: unknown }[]
}

const idPattern = /^[a-zA-Z0-9_-]+$/
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/
const imageBytesMax = 5 * 1024 * 1024

/** Returns the first error of Anthropic's API for a history, with its own message, or null. */
export function complaintAbout(request: AnthropicRequest, given: readonly GivenAnswer[]): string | null {
  const { messages } = request
  const complaints = [
    start(messages),
    ...(request.tools ?? []).map(({ name }, index) =>
      namePattern.test(name) ? null : `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`,
    ),
    ...messages.map((message, index) => emptiness(message, index === messages.length - 1)),
    ...messages.map((message, index) => repeatedIds(messages, message, index)),
    ...messages.map((message, index) => orphanUses(message, messages[index + 1], index)),
    ...messages.map((message, index) => strayResults(message, messages[index - 1], index)),
    ...messages.map((message, index) => lastBlock(message, index)),
    ...messages.map((message, index) => largeImage(message, index)),
    changedThinking(request, given),
  ]
  return complaints.find((complaint) => complaint !== null) ?? null
}

function start(messages: readonly AnthropicMessage[]): string | null {
  const first = messages[0]
  if (first === undefined) return 'messages: at least one message is required'
  return first.role === 'user' ? null : 'messages: first message must use the "user" role'
}

function emptiness({ role, content }: AnthropicMessage, isLast: boolean): string | null {
  if (content.length === 0 && !(isLast && role === 'assistant')) {
    return 'messages: all messages must have non-empty content except for the optional final assistant message'
  }
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (texts.includes('')) return 'messages: text content blocks must be non-empty'
  if (texts.some((text) => text.trim() === '')) return 'messages: text content blocks must contain non-whitespace text'
  if (isLast && role === 'assistant' && /\s$/.test(texts.at(-1) ?? '')) {
    return 'messages: final assistant content cannot end with trailing whitespace'
  }
  return null
}

function repeatedIds(
  messages: readonly AnthropicMessage[],
  { content }: AnthropicMessage,
  index: number,
): string | null {
  const seen = new Set(usesOf(messages.slice(0, index)))
  for (const [at, block] of content.entries()) {
    if (block.type !== 'tool_use') continue
    if (!idPattern.test(block.id)) {
      return `messages.${index}.content.${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
    }
    if (seen.has(block.id)) return `messages.${index}.content.${at}: \`tool_use\` ids must be unique`
    seen.add(block.id)
  }
  return null
}

const usesOf = (messages: readonly AnthropicMessage[]): readonly string[] =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])))

/** Results must be at the start of the next message. After any other block they do not count. */
function orphanUses(message: AnthropicMessage, next: AnthropicMessage | undefined, index: number): string | null {
  const head = next?.content ?? []
  const end = head.findIndex(({ type }) => type !== 'tool_result')
  const answered = (end === -1 ? head : head.slice(0, end)).flatMap((block) =>
    block.type === 'tool_result' ? [block.tool_use_id] : [],
  )
  const orphans = usesOf([message]).filter((id) => !answered.includes(id))
  if (orphans.length === 0) return null
  return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${orphans.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
}

function strayResults(
  { content }: AnthropicMessage,
  before: AnthropicMessage | undefined,
  index: number,
): string | null {
  const uses = before === undefined ? [] : usesOf([before])
  const seen = new Set<string>()
  for (const [at, block] of content.entries()) {
    if (block.type !== 'tool_result') continue
    const { tool_use_id: id } = block
    if (!uses.includes(id)) {
      return `messages.${index}.content.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    }
    if (seen.has(id)) {
      return `messages.${index}.content.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
    }
    if (block.is_error && block.content === '') {
      return `messages.${index}.content.${at}: content cannot be empty if \`is_error\` is true`
    }
    seen.add(id)
  }
  return null
}

function lastBlock({ role, content }: AnthropicMessage, index: number): string | null {
  const last = content.at(-1)
  if (role !== 'assistant' || last === undefined || !isThinking(last)) return null
  return `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`
}

function largeImage({ content }: AnthropicMessage, index: number): string | null {
  for (const [at, block] of content.entries()) {
    if (block.type !== 'image' || typeof block.source['data'] !== 'string') continue
    const { length } = block.source['data']
    if (length > imageBytesMax) {
      return `messages.${index}.content.${at}.image.source.base64: image exceeds 5 MB maximum: ${length} bytes > ${imageBytesMax} bytes`
    }
  }
  return null
}

/** Checks all signatures, and that the latest answer still has all its thinking, unchanged. */
function changedThinking({ messages, thinking }: AnthropicRequest, given: readonly GivenAnswer[]): string | null {
  const sent = given.flatMap((answer) => answer.thinking)
  const latest = messages.findLastIndex(({ role }) => role === 'assistant')

  for (const [index, { content }] of messages.entries()) {
    for (const [at, block] of content.entries()) {
      if (!isThinking(block) || sent.some((known) => sameBytes(known, block))) continue
      if (index === latest) {
        return `messages.${index}.content.${at}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`
      }
      return `messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block`
    }
  }

  return thinking?.type === 'enabled'
    ? roundWithoutThinking(messages, latest)
    : omittedThinking(messages, latest, thinking, given)
}

/** With a thinking budget, open rounds must start with thinking, whichever model answered. */
function roundWithoutThinking(messages: readonly AnthropicMessage[], latest: number): string | null {
  if (usesOf(messages.slice(latest, latest + 1)).length === 0) return null
  let first = latest
  while (isResults(messages[first - 1]) && usesOf(messages.slice(first - 2, first - 1)).length > 0) first -= 2
  const begin = messages[first]?.content[0]
  return begin === undefined || isThinking(begin) ? null : expectedThinking(first, begin)
}

const isResults = (message: AnthropicMessage | undefined): boolean =>
  message?.role === 'user' && message.content.every(({ type }) => type === 'tool_result')

/** Without a budget, only existing thinking must not be omitted. */
function omittedThinking(
  messages: readonly AnthropicMessage[],
  latest: number,
  thinking: AnthropicRequest['thinking'],
  given: readonly GivenAnswer[],
): string | null {
  const content = messages[latest]?.content ?? []
  const uses = content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : []))
  const thought = given.find((answer) => answer.thinking.length > 0 && sameBytes(answer.uses, uses))
  const isOn = thinking !== undefined && thinking.type !== 'disabled'
  const [begin] = content
  if (!isOn || uses.length === 0 || thought === undefined || begin === undefined || content.some(isThinking))
    return null
  return expectedThinking(latest, begin)
}

const expectedThinking = (message: number, { type }: WireBlock): string =>
  `messages.${message}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`

const sameBytes = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)
