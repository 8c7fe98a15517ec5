import type { Answer, CommandInput } from '@holdfast/protocol'
import type { Arbitrary } from 'fast-check'
import { type Outcome, refused, type Sender, type State } from '../state.ts'
import { approvals } from './approvals.ts'
import { choosing } from './choosing.ts'
import { context } from './context.ts'
import type { Family, Rule, Rules, Wish } from './family.ts'
import { forks } from './forks.ts'
import { keeping } from './keeping.ts'
import { lines } from './lines.ts'
import { marks } from './marks.ts'
import { prompts } from './prompts.ts'
import { queues } from './queues.ts'
import { isOfSeats, mayCommand, seats } from './seats.ts'
import { trust } from './trust.ts'
import { turns } from './turns.ts'

/** Every command there is must be in one of them; a test sees to that. */
const families: readonly Family[] = [
  prompts,
  queues,
  turns,
  approvals,
  trust,
  seats,
  lines,
  marks,
  context,
  forks,
  keeping,
  choosing,
]

export const wishes: readonly Arbitrary<Wish>[] = families.flatMap((family) => family.wishes)

const rules: Rules = Object.assign({}, ...families.map((family) => family.rules))

export const knownCommands: readonly string[] = Object.keys(rules)

export type Asked = {
  readonly id: string
  readonly by: Sender
  readonly command: CommandInput
  /** Each sending has its own, so that it is known who waits for what. */
  readonly ticket: number
}

/** What must come of a command, whoever sends it and however often. */
export function obey(woken: State, { id, by, command, ticket }: Asked, seq: number): Outcome {
  const state = { ...woken, isAwake: true }
  const first = state.answered.get(id)
  if (!isOfSeats(command)) {
    if (first) return again(state, first)
    if (!mayCommand(state, by)) return refused(state, 'not_driver')
  }
  const rule = rules[command.type] as Rule<typeof command.type> | undefined // looked up by its own type
  if (!rule) throw new Error(`no rule for ${command.type}: add it to a family`)
  const outcome = rule(state, command as never, { by, seq, id, ticket })
  // A seat is not on record, so taking one is not remembered; but what was admitted under this id is never refused.
  return first && !outcome.says.ok ? again(state, first) : outcome
}

const again = (state: State, first: Answer): Outcome => ({
  state,
  says: { ok: true, isChange: false, result: first.result, first },
})
