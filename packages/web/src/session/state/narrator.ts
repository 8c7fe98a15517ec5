import type { LivePart, Message } from '@holdfast/protocol'

/** What a listener is told about: what streams, what is recorded, and how the session is. */
export type Heard = {
  readonly live: readonly LivePart[]
  readonly messages: readonly Message[]
  /** A sentence for the state of the session, such as `Working`; said when it changes. */
  readonly state: string
}

/** Says what happens in a session, a finished paragraph at a time. */
export interface Narrator {
  /** Returns what is new since the last call, as sentences; none if there is nothing to say yet. */
  next(heard: Heard): readonly string[]
}

/** Creates a narrator that says nothing of what was there before. */
export function createNarrator(first: Heard): Narrator {
  let state = first.state
  let lastId = first.messages.at(-1)?.id ?? 0
  /** The streaming text, and how much of it was said. */
  let said = { key: '', upTo: 0 }

  const streamed = ({ live }: Heard): readonly string[] => {
    const part = live.findLast(({ kind }) => kind === 'text')
    if (!part) return []
    const key = `${part.step}.${part.part}`
    if (key !== said.key) said = { key, upTo: 0 }
    const end = endOfParagraphs(part.text, said.upTo)
    if (end === said.upTo) return []
    const text = part.text.slice(said.upTo, end)
    said = { key, upTo: end }
    return paragraphsOf(text)
  }
  const recorded = ({ messages }: Heard): readonly string[] => {
    const fresh: Message[] = []
    for (let at = messages.length - 1; at >= 0; at--) {
      const message = messages[at]
      if (!message || message.id <= lastId) break
      fresh.unshift(message)
    }
    lastId = fresh.at(-1)?.id ?? lastId
    return fresh.flatMap((message) => {
      if (message.kind !== 'assistant') return []
      const begun = said.key.startsWith(`${message.step}.`) ? said.upTo : 0
      said = { key: '', upTo: 0 }
      return paragraphsOf(message.text.slice(begun))
    })
  }
  return {
    next(heard) {
      const news = [...recorded(heard), ...streamed(heard)]
      if (heard.state === state) return news
      state = heard.state
      return state === '' ? news : [...news, state]
    },
  }
}

const fence = /^ {0,3}(`{3,}|~{3,})/

/** Returns where the last finished paragraph ends: at a blank line outside a block of code. */
function endOfParagraphs(text: string, from: number): number {
  let end = from
  let isInCode = false
  let at = from
  for (let next = text.indexOf('\n', at); next >= 0; next = text.indexOf('\n', at)) {
    const line = text.slice(at, next)
    if (fence.test(line)) isInCode = !isInCode
    at = next + 1
    if (!isInCode && line.trim() === '') end = at
  }
  return end
}

/** Splits text into paragraphs that can be spoken: code is counted, and marks are left out. */
export function paragraphsOf(text: string): readonly string[] {
  const spoken: string[] = []
  let words: string[] = []
  let code: number | null = null
  const close = () => {
    if (words.length > 0) spoken.push(words.join(' '))
    words = []
  }
  for (const line of text.split('\n')) {
    if (fence.test(line)) {
      close()
      if (code !== null) spoken.push(`Code, ${code === 1 ? '1 line' : `${code} lines`}.`)
      code = code === null ? 0 : null
    } else if (code !== null) code++
    else if (line.trim() === '') close()
    else words.push(plainText(line))
  }
  close()
  if (code !== null) spoken.push('Code.')
  return spoken
}

const plainText = (line: string): string =>
  line
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1') // a class without its own beginning is read once
    .replace(/[*`~]+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '') // an underscore within a word is part of a name
    .trim()
