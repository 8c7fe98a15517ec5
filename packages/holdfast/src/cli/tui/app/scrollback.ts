import type { LiveView } from '@holdfast/client'
import { type Block, createSettlingParser, parseMarkdown } from '@holdfast/client/markdown'
import type { LivePart, Message } from '@holdfast/protocol'
import { callRows } from '../render/call.ts'
import type { CodeColours } from '../render/code.ts'
import { blockRows } from '../render/markdown.ts'
import { interruptedRow, messageRows } from '../render/message.ts'
import { emptyLine, line, type StyledLine, shownLine, shownText, span, styles } from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'

/** What a draw needs to know. */
export type DrawFacts = { readonly width: number; readonly rows: number; readonly spinner: string }

/** Rows that are printed once, and the rows of what can still change. */
export type Advance = { readonly print: readonly StyledLine[]; readonly tail: readonly StyledLine[] }

/** Knows which part of a session is printed already. Printed rows belong to the terminal: they scroll away and never change. */
export interface Scrollback {
  advance(view: LiveView, facts: DrawFacts): Advance
}

/** A streaming answer, the n-th text of its step. Its finished blocks are printed already. */
type Streamed = {
  readonly step: number
  readonly nth: number
  readonly parse: ReturnType<typeof createSettlingParser>
  printed: number
  source: string
}

/** Messages that are printed when a session is opened, and their rows in screens. */
const openedMessages = 40
const openedScreens = 3

/** Creates the printed part of a session. It begins with the newest messages: `rowsMax` rows of them, else a few screens. */
export function createScrollback(colours: CodeColours, rowsMax?: number): Scrollback {
  let last: number | null = null
  let streamed: Streamed | null = null

  /** Prints what is final. Stops at the first message that can still change. */
  function printFinal(
    messages: readonly Message[],
    facts: DrawFacts,
  ): { readonly rows: StyledLine[]; readonly next: number } {
    const rows: StyledLine[] = []
    let index = last === null ? 0 : indexAfter(messages, last)
    for (; index < messages.length; index++) {
      const message = messages[index]
      if (!message || !isFinal(message)) break
      if (message.kind === 'assistant' && !colours.isReady(message.text)) break // its colours are being loaded
      rows.push(...finalRows(messages, message, facts))
      last = message.id
    }
    return { rows, next: index }
  }

  function finalRows(messages: readonly Message[], message: Message, { width }: DrawFacts): readonly StyledLine[] {
    const options = { width, colours, isOpen: false }
    if (message.kind !== 'assistant' || streamed?.step !== message.step) return messageRows(message, options)
    const nth = countOf(messages, message.step, 'assistant', message.id)
    if (streamed.nth !== nth || streamed.printed === 0) return messageRows(message, options)
    const { printed, source } = streamed
    streamed = null
    // After a crash the record may end before what was shown.
    if (!message.text.replaceAll('\r\n', '\n').startsWith(source))
      return [
        emptyLine,
        line('⊘ interrupted; the answer is recorded only up to here:', styles.warn),
        ...messageRows(message, options),
      ]
    return [...spaced(parseMarkdown(message.text).slice(printed), width, colours), ...interruptedRow(message)]
  }

  /** Returns the rows of what streams, and prints the blocks of it that can no longer change. */
  function drawLive(view: LiveView, print: StyledLine[], mayPrint: boolean, facts: DrawFacts): readonly StyledLine[] {
    const tail: StyledLine[] = []
    let isFirst = mayPrint
    for (const { part, nth } of unrecorded(view.messages, view.live)) {
      if (part.kind === 'text') {
        const shown = drawText(part, nth, isFirst, facts)
        print.push(...shown.print)
        tail.push(...shown.tail)
      } else tail.push(...drawOther(part, facts))
      isFirst = false
    }
    return tail
  }

  function drawText(part: LivePart, nth: number, mayPrint: boolean, { width }: DrawFacts): Advance {
    if (streamed?.step !== part.step || streamed.nth !== nth)
      streamed = { step: part.step, nth, parse: createSettlingParser(), printed: 0, source: '' }
    const { blocks, settled, settledText } = streamed.parse(part.text)
    const from = streamed.printed
    const canPrint = mayPrint && settled > from && colours.isReady(part.text)
    if (!canPrint) return { print: [], tail: spaced(blocks.slice(from), width, colours) }
    streamed.printed = settled
    streamed.source = settledText
    return {
      print: spaced(blocks.slice(from, settled), width, colours),
      tail: spaced(blocks.slice(settled), width, colours),
    }
  }

  /** Begins with the newest messages of a session that was just opened. */
  function printOpening(messages: readonly Message[], hasOlder: boolean, facts: DrawFacts): readonly StyledLine[] {
    const shown = messages.slice(-openedMessages)
    last = messages.at(-shown.length - 1)?.id ?? 0
    const { rows } = printFinal(messages, facts)
    const kept = rows.slice(-(rowsMax ?? openedScreens * facts.rows))
    const isCut = hasOlder || shown.length < messages.length || kept.length < rows.length
    return isCut ? [emptyLine, line('  … earlier messages: Ctrl+O shows them', styles.dim), ...kept] : kept
  }

  /** Prints the last turn of the line that the session moved to. */
  function printMoved(messages: readonly Message[], branch: string | null, facts: DrawFacts): readonly StyledLine[] {
    const turn = messages.at(-1)?.turn
    const before = messages.findLast((message) => message.turn !== turn)
    last = before?.id ?? 0
    streamed = null
    const name = branch === null ? '' : ` on ${shownLine(branch)}`
    const where = turn === undefined ? 'before the first turn' : `after turn ${turn}`
    return [
      emptyLine,
      line(`── the session now continues ${where}${name} ──`, styles.warn),
      ...printFinal(messages, facts).rows,
    ]
  }

  function printNew(view: LiveView, facts: DrawFacts): readonly StyledLine[] {
    const { messages } = view
    const newest = messages.at(-1)
    if (last === null) return newest ? printOpening(messages, view.hasOlder, facts) : []
    const [oldest] = messages
    if (last > 0 && oldest && last < oldest.id && view.hasOlder) {
      last = oldest.id - 1
      return [
        emptyLine,
        line('  … messages in between: Ctrl+O shows them', styles.dim),
        ...printFinal(messages, facts).rows,
      ]
    }
    const isKnown = last === 0 || messages[indexAfter(messages, last) - 1]?.id === last
    if (isKnown) return printFinal(messages, facts).rows
    return printMoved(messages, view.view?.branch ?? null, facts)
  }

  return {
    advance(view, facts) {
      if (!view.view) return { print: [], tail: [] }
      if (last === null && view.messages.length === 0) last = 0
      const print = [...printNew(view, facts)]
      const next = last === null ? 0 : indexAfter(view.messages, last)
      const waiting = view.messages.slice(next)
      const tail = waiting.flatMap((message) => waitingRows(message, view.live, facts, colours))
      const mayPrint = waiting.every(({ kind }) => kind === 'usage')
      const live = drawLive(view, print, mayPrint, facts)
      return { print, tail: [...tail, ...live] }
    },
  }
}

/** Returns the index after the last message with at most this id. Ids grow along a line. */
export function indexAfter(messages: readonly Message[], id: number): number {
  let [low, high] = [0, messages.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((messages[middle]?.id ?? 0) <= id) low = middle + 1
    else high = middle
  }
  return low
}

const isFinal = (message: Message): boolean =>
  message.kind !== 'tool_call' || (message.call.status !== 'waiting' && message.call.status !== 'running')

const spaced = (blocks: readonly Block[], width: number, colours: CodeColours): readonly StyledLine[] =>
  blocks.flatMap((block) => [emptyLine, ...blockRows(block, width, colours)])

function waitingRows(
  message: Message,
  live: readonly LivePart[],
  { width, spinner }: DrawFacts,
  colours: CodeColours,
): readonly StyledLine[] {
  if (message.kind !== 'tool_call') return messageRows(message, { width, colours, isOpen: false })
  const output = live.find(({ call }) => call === message.call.id)?.text
  return [emptyLine, ...callRows(message, { width, isOpen: false, output, spinner })]
}

/** Returns the streaming parts that no message holds yet. The n-th text of a step becomes the n-th message of its kind. */
function* unrecorded(messages: readonly Message[], live: readonly LivePart[]) {
  const seen = new Map<string, number>()
  for (const part of live) {
    if (part.kind === 'output') continue
    const kind = kinds[part.kind]
    const nth = seen.get(`${part.step} ${kind}`) ?? 0
    seen.set(`${part.step} ${kind}`, nth + 1)
    if (nth >= countOf(messages, part.step, kind)) yield { part, nth }
  }
}

const kinds = { text: 'assistant', thinking: 'thinking', input: 'tool_call' } as const

/** Counts the messages of a kind of a step; only those before a message, if it is given. */
function countOf(messages: readonly Message[], step: number, kind: Message['kind'], before?: number): number {
  let count = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (!message || message.id < step) break // a message comes after the start of its step
    if (message.kind !== kind || !('step' in message) || message.step !== step) continue
    if (before === undefined || message.id < before) count++
  }
  return count
}

const thinkingRowsMax = 4

function drawOther(part: LivePart, { width, spinner }: DrawFacts): readonly StyledLine[] {
  if (part.kind === 'input')
    return [
      emptyLine,
      [
        span(`${spinner} `, styles.warn),
        span(shownLine(part.tool ?? 'tool'), styles.bold),
        span(`  writes ${part.text.length} characters`, styles.dim),
      ],
    ]
  const text = shownText(part.text.slice(-4000)).trim()
  if (text === '') return []
  const rows = wrapText(text, width - 2, `${styles.dim};${styles.italic}`).slice(-thinkingRowsMax)
  return [emptyLine, ...rows.map((row, index): StyledLine => [span(index === 0 ? '✻ ' : '  ', styles.dim), ...row])]
}
