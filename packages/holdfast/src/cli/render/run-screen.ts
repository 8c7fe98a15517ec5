import type { Event, Frame, FrameOf, Preview, Recorded } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { callLine } from '../../transfer/export/call-line.ts'
import type { Output } from '../terminal/output.ts'

/** Shows a turn as it runs: what the model says on standard output, everything else on standard error. */
export interface RunScreen {
  show(frame: Frame): Promise<void>
  /** A line beside the answer. */
  note(text: string): Promise<void>
  /** Ends the line that is being written. */
  settle(): Promise<void>
}

type Kind = 'text' | 'thinking'
type Fragment = { readonly step: number; readonly part: number; readonly kind: string; readonly text: string }

export function createRunScreen(out: Output, err: Output): RunScreen {
  const tools = new Map<number, string>()
  // In characters, by part and by step and kind: what is recorded was mostly seen before, as deltas.
  const shownOfPart = new Map<string, number>()
  const shownOfStep = new Map<string, number>()
  const recordedOfStep = new Map<string, number>()
  let open: { readonly kind: Kind; readonly place: string; readonly endsLine: boolean } | null = null
  let hasSpoken = false

  async function settle(): Promise<void> {
    if (open === null) return
    const { kind, endsLine } = open
    open = null
    if (!endsLine) await (kind === 'text' ? out : err).write('\n')
  }

  async function say(kind: Kind, place: string, text: string): Promise<void> {
    if (text === '') return
    if (open?.place !== place) {
      await settle()
      if (kind === 'text' && hasSpoken) await out.write('\n') // two answers of one turn are two paragraphs
    }
    open = { kind, place, endsLine: text.endsWith('\n') }
    if (kind === 'thinking') return err.write(err.paint.dim(escapeHidden(text)))
    hasSpoken = true
    await out.write(escapeHidden(text))
  }

  async function note(text: string): Promise<void> {
    await settle()
    await err.write(`${text}\n`)
  }

  /** A part so far, or one more piece of it. */
  async function live({ step, part, kind, text }: Fragment, isWhole: boolean): Promise<void> {
    if (kind !== 'text' && kind !== 'thinking') return
    const place = `${step}.${part}`
    const known = shownOfPart.get(place) ?? 0
    const fresh = isWhole ? text.slice(known) : text
    shownOfPart.set(place, known + fresh.length)
    add(shownOfStep, `${step}.${kind}`, fresh.length)
    await say(kind, place, fresh)
  }

  /** Shows what no delta brought: a record may come to someone who joined late. */
  async function recorded(kind: Kind, seq: number, step: number, text: string): Promise<void> {
    const key = `${step}.${kind}`
    const unseen = add(recordedOfStep, key, text.length) - (shownOfStep.get(key) ?? 0)
    const missing = Math.min(text.length, Math.max(0, unseen))
    add(shownOfStep, key, missing)
    const goesOn = missing < text.length && open?.kind === kind
    await say(kind, goesOn && open ? open.place : `record ${seq}`, text.slice(text.length - missing))
  }

  async function record({ seq, event }: Recorded): Promise<void> {
    if (event.type === 'thinking.said') return recorded('thinking', seq, event.step, event.text)
    if (event.type === 'text.said') return recorded('text', seq, event.step, event.text)
    if (event.type === 'call.requested') tools.set(seq, event.tool)
    const line = lineOf(event, tools)
    if (line !== null) await note(line.isError ? err.paint.red(line.text) : err.paint.dim(line.text))
  }

  /** Whoever waits should know what for, and that it is over. */
  async function storage({ error }: FrameOf<'storage'>): Promise<void> {
    await note(error ? err.paint.red(escapeHidden(error.message)) : err.paint.dim('The store takes writes again.'))
  }

  return {
    async show(frame) {
      if (frame.type === 'record') await record(frame.record)
      if (frame.type === 'storage') await storage(frame)
      if (frame.type === 'delta') await live(frame, false)
      if (frame.type === 'draft') for (const part of partsOf(frame)) await live(part, true)
    },
    note,
    settle,
  }
}

const partsOf = ({ parts }: FrameOf<'draft'>): readonly Fragment[] => parts

function add(counts: Map<string, number>, key: string, more: number): number {
  const sum = (counts.get(key) ?? 0) + more
  counts.set(key, sum)
  return sum
}

/** What a record adds beside the answer, or null. */
function lineOf(
  event: Event,
  tools: ReadonlyMap<number, string>,
): { readonly text: string; readonly isError: boolean } | null {
  const plain = (text: string) => ({ text, isError: false })
  switch (event.type) {
    case 'call.requested':
      return plain(`→ ${callLine(event.tool, event.args)}`)
    case 'call.settled': {
      const { outcome, durationMs } = event
      const tool = escapeLine(tools.get(event.call) ?? 'call')
      if (outcome.type === 'ok') return plain(`✓ ${tool}${durationMs === null ? '' : `, ${Math.round(durationMs)} ms`}`)
      if (outcome.type === 'failed') return { text: `✗ ${tool}: ${escapeHidden(outcome.output.text)}`, isError: true }
      if (outcome.type === 'denied') return { text: `✗ ${tool}: ${escapeHidden(outcome.message)}`, isError: true }
      return { text: `✗ ${tool}: interrupted`, isError: true }
    }
    case 'note.added':
      return { text: escapeHidden(event.text), isError: event.level === 'error' }
    default:
      return null
  }
}

/** Exactly what will run, for the person who is told of it. */
export function previewText(preview: Preview): string {
  if (preview.type === 'command') return escapeLine(preview.command)
  if (preview.type === 'diff') return `${escapeLine(preview.path)}\n${escapeHidden(preview.diff)}`
  return escapeLine(JSON.stringify(preview.args))
}
