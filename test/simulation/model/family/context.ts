import type { SeedMessage } from '@holdfast/protocol'
import fc from 'fast-check'
import { activeCheckpoint, compactionCut, currentContext } from '../model-context.ts'
import { accepted, type Outcome, pending, refused, type SideWork, type State } from '../state.ts'
import { type Checkpoint, grow, type Line, messagesOn, turnNow } from '../tree.ts'
import type { CommandTemplate, Family } from './family.ts'
import { seeds, withSeedMessages } from './seed-messages.ts'

export const compact: CommandTemplate = { code: 'compact', command: () => ({ type: 'compact' }) }
export const undoCompaction: CommandTemplate = { code: 'undoCompaction', command: () => ({ type: 'undoCompaction' }) }
export const summarize: CommandTemplate = { code: 'summarize', command: () => ({ type: 'summarize' }) }
export const setSummary = (summary: string): CommandTemplate => ({
  code: `setSummary('${summary}')`,
  command: () => ({ type: 'setSummary', summary }),
})
export const appendCheckpoint = (seed: keyof typeof seeds): CommandTemplate => ({
  code: `appendCheckpoint('${seed}')`,
  command: () => ({ type: 'appendCheckpoint', messages: [...seeds[seed]] }),
})

const fromNow = (state: State) => activeCheckpoint(state)?.said.from ?? 0

/** Summaries are written without thinking. */
const writerOf = ({ model }: State) => `${model} off`

export const write = (state: State, checkpoint: Omit<Checkpoint, 'who'>): State =>
  grow(state, { who: 'checkpoint', ...checkpoint }, { turn: turnNow(state), round: null })

/** Applies a finished summary. Messages added meanwhile stay. If the session has moved to another line, nothing is cut. */
export function written(state: State, { kind, from }: SideWork, text: string): Outcome {
  if (kind === 'summarize') {
    const note = { who: 'note', kind: 'notice', code: 'summarized', text: 'The summary was saved to note.md.' } as const
    return accepted(grow(state, note, { turn: turnNow(state), round: null }), { text, path: 'note.md' })
  }
  const fits = messagesOn(state.nodes, state).includes(from) && from > fromNow(state)
  if (!fits) return refused(state, 'nothing_to_compact')
  return accepted(write(state, { text, from, prompt: null }), { summary: text })
}

/** The summary failed: nothing has changed. */
export const unwritten = (state: State): Outcome => refused(state, 'summary_failed')

/** Commands about the context of the model. */
export const context: Family = {
  templates: [
    fc.constant(compact),
    fc.constantFrom(compact, compact, compact, summarize),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(undoCompaction) },
      { weight: 1, arbitrary: fc.constantFrom('in short', '').map(setSummary) },
      { weight: 1, arbitrary: fc.constantFrom<(keyof typeof seeds)[]>('a turn', 'calls').map(appendCheckpoint) },
      { weight: 1, arbitrary: fc.constant(appendCheckpoint('no transcript')) },
    ),
  ],
  rules: {
    compact(state, _, { ticket }) {
      if (state.turn) return refused(state, 'turn_running')
      const of = currentContext(state)
      const from = compactionCut(state, of)
      if (from === null) return refused(state, 'nothing_to_compact')
      const cut = { ...of, by: writerOf(state), pinned: [], messages: of.messages.filter((key) => key < from) }
      return pending({ ...state, sideWork: [...state.sideWork, { ticket, kind: 'compact', of: cut, from }] })
    },
    summarize(state, _, { ticket }) {
      if (state.turn) return refused(state, 'turn_running')
      const of = { ...currentContext(state), by: writerOf(state), pinned: [] }
      if (of.messages.length === 0 && of.summary === '') return refused(state, 'nothing_to_summarize')
      return pending({ ...state, sideWork: [...state.sideWork, { ticket, kind: 'summarize', of, from: 0 }] })
    },
    undoCompaction(state) {
      if (state.turn) return refused(state, 'turn_running')
      const held = activeCheckpoint(state)
      if (!held) return refused(state, 'nothing_to_compact')
      // On a truncated line nothing replaces the hidden messages.
      const withoutHidden = <Some extends Line>(line: Some): Some =>
        line.hidden > 0 && activeCheckpoint(state, line)?.key === held.key ? { ...line, isBare: true } : line
      return accepted({
        ...withoutHidden(state),
        branches: state.branches.map(withoutHidden),
        undone: [...state.undone, held.key],
      })
    },
    /** Replaces the summary text. */
    setSummary(state, { summary }) {
      const prompt = activeCheckpoint(state)?.said.prompt ?? null
      return accepted(write(state, { text: summary, from: fromNow(state), prompt, isSet: summary !== '' }), { summary })
    },
    appendCheckpoint(state, { messages }) {
      if (state.turn) return refused(state, 'turn_running')
      const begun = write(state, { text: '', from: state.nodes.length + 1, prompt: null })
      const seeded = withSeedMessages(begun, messages as readonly SeedMessage[])
      return seeded ? accepted(seeded, { summary: '' }) : refused(state, 'bad_request')
    },
  },
}
