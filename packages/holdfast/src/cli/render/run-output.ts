import type { TurnEnded } from '@holdfast/client/internal'
import {
  type ChildView,
  type Event,
  type Frame,
  type FrameOf,
  hookText,
  ruleText,
  type SessionId,
  type Status,
  type Usage,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { formatCall } from '../../transfer/export/call-line.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { createCommandLines } from './command-lines.ts'
import { outsideText } from './transcript-text.ts'
import { createStreamWrap } from './wrap-words.ts'

/** The last line of `run --json`. */
export type RunResult = {
  readonly sessionId: SessionId
  readonly text: string
  readonly status: Status
  readonly usage: Usage
  readonly reason: TurnEnded['reason']
  readonly fault?: TurnEnded['fault']
}

/** Prints a turn while it runs: as text for people, or as lines of JSON for programs. */
export interface RunOutput {
  show(frame: Frame): Promise<void>
  /** Prints a line for people on standard error, as it is. */
  note(text: string): Promise<void>
  /** Prints a sentence there, wrapped at words. */
  tell(text: string): Promise<void>
  end(result: RunResult): Promise<void>
}

/** Draws the Markdown of an answer for a terminal. */
export interface MarkdownPrinter {
  /** Adds a piece of the text. Returns what can be printed by now, in whole lines. */
  add(text: string): string
  /** Returns the rest, and starts anew. */
  end(): string
}

type Outputs = Pick<CliContext, 'out' | 'err'> & {
  /** Draws answers; absent where they are printed as they are. */
  readonly markdown?: MarkdownPrinter | undefined
  /** The calls that were requested before the first frame. */
  readonly calls?: readonly { readonly id: number; readonly tool: string }[] | undefined
}

export function createRunOutput(isJson: boolean, outputs: Outputs): RunOutput {
  const output = isJson ? createJsonOutput(outputs) : createTextOutput(outputs)
  let isRefusing = false
  return {
    ...output,
    async show(frame) {
      // A subscriber gets the state of the store at the start; that it works is not worth a line.
      if (frame.type === 'storage' && frame.error === null && !isRefusing) return
      if (frame.type === 'storage') isRefusing = frame.error !== null
      await output.show(frame)
    },
  }
}

const createJsonOutput = ({ out, err }: Outputs): RunOutput => ({
  async show(frame) {
    const shown = toFrameJson(frame)
    if (shown !== null) await out.writeJson(shown)
  },
  note: (text) => err.write(`${text}\n`),
  tell: (text) => err.write(`${text}\n`),
  end: (result) => out.writeJson({ result }),
})

/** Returns the documented part of a frame, or null if it is not printed. */
function toFrameJson(frame: Frame): unknown {
  if (frame.type === 'record') {
    const { seq, at, event } = frame.record
    return { record: { seq, at, event } }
  }
  if (frame.type === 'storage') return { storage: { error: frame.error } }
  if (frame.type === 'child') return frame.view ? { child: frame.view } : null
  if (frame.type !== 'delta') return null
  const { type, sessionId, ...delta } = frame
  return { delta }
}

type Kind = 'text' | 'thinking'
type Fragment = { readonly step: number; readonly part: number; readonly kind: string; readonly text: string }

/** Prints the model's text on standard output, and thinking, calls and notes on standard error. */
function createTextOutput({ out, err, markdown, calls = [] }: Outputs): RunOutput {
  const tools = new Map<number, string>(calls.map(({ id, tool }) => [id, tool]))
  // Counted in characters: most recorded text was already printed as deltas.
  const shownOfPart = new Map<string, number>()
  const shownOfStep = new Map<string, number>()
  const recordedOfStep = new Map<string, number>()
  let open: { readonly kind: Kind; readonly position: string; readonly endsLine: boolean } | null = null
  const commandLines = createCommandLines()
  const thinking = err.columns === null ? null : createStreamWrap(err.columns)
  const shownChildren = new Map<string, string>()
  /** Lines about subagents that wait for the end of a text. */
  const heldChildren: string[] = []
  let hasText = false

  /** Ends the line that is being written. */
  async function endLine(): Promise<void> {
    if (open === null) return
    const { kind, endsLine } = open
    open = null
    if (kind === 'thinking' && thinking) await err.write(err.paint.dim(thinking.end()))
    if (kind === 'text' && markdown) await out.write(markdown.end())
    else if (!endsLine) await (kind === 'text' ? out : err).write('\n')
    const held = heldChildren.splice(0)
    for (const line of held) await err.write(`${err.paint.dim(err.wrap(line))}\n`)
  }

  async function print(kind: Kind, position: string, text: string): Promise<void> {
    if (text === '') return
    if (open?.position !== position) {
      await endLine()
      if (kind === 'text' && hasText) await out.write('\n') // two answers of one turn are two paragraphs
    }
    open = { kind, position, endsLine: text.endsWith('\n') }
    if (kind === 'thinking') return err.write(err.paint.dim(thinking?.add(escapeHidden(text)) ?? escapeHidden(text)))
    hasText = true
    await out.write(markdown ? markdown.add(text) : escapeHidden(text))
  }

  async function note(text: string): Promise<void> {
    await endLine()
    await err.write(`${text}\n`)
  }

  /** Prints sentences in a style, wrapped at words. */
  const tell = (text: string, style: (text: string) => string = (plain) => plain) => note(style(err.wrap(text)))

  /** Prints a piece of a part, or what is new in the whole part. */
  async function printLive({ step, part, kind, text }: Fragment, isWhole: boolean): Promise<void> {
    if (kind !== 'text' && kind !== 'thinking') return
    const position = `${step}.${part}`
    const known = shownOfPart.get(position) ?? 0
    const fresh = isWhole ? text.slice(known) : text
    shownOfPart.set(position, known + fresh.length)
    add(shownOfStep, `${step}.${kind}`, fresh.length)
    await print(kind, position, fresh)
  }

  /** Prints the part of recorded text that no delta had, as after a late subscription. */
  async function printRecorded(kind: Kind, seq: number, step: number, text: string): Promise<void> {
    const key = `${step}.${kind}`
    const unseen = add(recordedOfStep, key, text.length) - (shownOfStep.get(key) ?? 0)
    const missing = Math.min(text.length, Math.max(0, unseen))
    add(shownOfStep, key, missing)
    const continues = missing < text.length && open?.kind === kind
    await print(kind, continues && open ? open.position : `record ${seq}`, text.slice(text.length - missing))
  }

  /** Prints the output of a running command. Only at a terminal: others read the record. */
  async function printOutput(lines: readonly string[]): Promise<void> {
    if (err.isTerminal && lines.length > 0) await note(lines.map(err.paint.dim).join('\n'))
  }

  async function printRecord({ sessionId, record: { seq, event } }: FrameOf<'record'>): Promise<void> {
    if (event.type === 'call.settled') {
      const last = commandLines.end(event.call)
      await printOutput(last === null ? [] : [last])
    }
    if (event.type === 'thinking.said') return printRecorded('thinking', seq, event.step, event.text)
    if (event.type === 'text.said') return printRecorded('text', seq, event.step, event.text)
    if (event.type === 'turn.ended') return endLine() // what a person types next begins on a line of its own
    if (event.type === 'call.requested') tools.set(seq, event.tool)
    const line = lineOf(event, tools)
    const style = line?.isError ? err.paint.red : err.paint.dim
    if (line !== null) await (line.isSentence ? tell(line.text, style) : note(style(line.text)))
    const outside = event.type === 'call.settled' ? outsideText(sessionId, event.call, event.files) : null
    if (outside !== null) await tell(outside, err.paint.red)
  }

  const printStorage = ({ error }: FrameOf<'storage'>): Promise<void> =>
    error ? tell(escapeHidden(error.message), err.paint.red) : tell('The store accepts writes again.', err.paint.dim)

  /** Says what a subagent does, when it changes. Waits for the end of a text that is being written. */
  async function printChild(view: ChildView): Promise<void> {
    const before = shownChildren.get(view.id)
    const does = childDoes(view)
    if (before === does || (before !== undefined && does === 'works')) return
    shownChildren.set(view.id, does)
    const line = childLine(view, does, before === undefined)
    if (open?.kind === 'text') heldChildren.push(line)
    else await tell(line, err.paint.dim)
  }

  return {
    async show(frame) {
      if (frame.type === 'record') await printRecord(frame)
      if (frame.type === 'storage') await printStorage(frame)
      if (frame.type === 'child' && frame.view) await printChild(frame.view)
      if (frame.type === 'delta') await printLive(frame, false)
      if (frame.type === 'delta' && frame.kind === 'output' && frame.call !== undefined)
        await printOutput(commandLines.add(frame.call, frame.text))
      if (frame.type === 'draft') for (const part of frame.parts) await printLive(part, true)
    },
    note,
    tell: (text) => tell(text),
    end: endLine,
  }
}

function add(counts: Map<string, number>, key: string, more: number): number {
  const sum = (counts.get(key) ?? 0) + more
  counts.set(key, sum)
  return sum
}

function childDoes({ status, tool, pendingApprovals }: ChildView): string {
  if (status === 'running') return tool === null ? 'works' : `runs ${escapeLine(tool)}`
  if (status === 'waiting') return `waits for approval of ${escapeLine(pendingApprovals[0]?.tool ?? tool ?? 'a call')}`
  return status
}

/** Says what a subagent does; the first time also its task. */
const childLine = ({ handle, agent, task, depth }: ChildView, does: string, isFirst: boolean): string =>
  `${'  '.repeat(depth)}subagent ${handle} (${escapeLine(agent)}) ${does}${isFirst ? `: ${escapeLine(task)}` : ''}`

type PrintedLine = {
  readonly text: string
  readonly isError: boolean
  /** Whether it may be wrapped at words. What ran, and what it printed, is shown as it is. */
  readonly isSentence?: true
}

/** Returns the line that a record adds on standard error, or null. */
function lineOf(event: Event, tools: ReadonlyMap<number, string>): PrintedLine | null {
  const plain = (text: string) => ({ text, isError: false })
  switch (event.type) {
    case 'call.requested':
      return plain(`→ ${formatCall(event.tool, event.args)}`)
    case 'call.approved':
      if (!('rule' in event.by) || event.by.rule === 'not destructive') return null
      return plain(`  ${escapeLine(ruleText(event.by.rule))}`)
    case 'call.settled': {
      const { outcome, durationMs } = event
      const tool = escapeLine(tools.get(event.call) ?? 'call')
      if (outcome.type === 'ok') return plain(`✓ ${tool}${durationMs === null ? '' : `, ${Math.round(durationMs)} ms`}`)
      if (outcome.type === 'failed') return { text: `✗ ${tool}: ${escapeHidden(outcome.output.text)}`, isError: true }
      if (outcome.type === 'denied')
        return { text: `✗ ${tool}: ${escapeHidden(outcome.message)}`, isError: true, isSentence: true }
      return { text: `✗ ${tool}: interrupted`, isError: true }
    }
    case 'call.rewritten':
      return plain(`  changed by the hook ${escapeLine(event.hook)}: ${escapeLine(JSON.stringify(event.args))}`)
    case 'hook.ran':
      return { text: escapeHidden(hookText(event)), isError: event.outcome === 'failed', isSentence: true }
    case 'note.added':
      if (event.code === 'plan_mode') return null // the denied call says the same
      return { text: escapeHidden(event.text), isError: event.level === 'error', isSentence: true }
    default:
      return null
  }
}
