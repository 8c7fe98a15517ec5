import { isDeepStrictEqual } from 'node:util'
import { type Answer, Command, type CommandInput, invariant } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { type Outcome, refused, type Sender, type State } from '../state.ts'
import { approvals } from './approvals.ts'
import { boundaryCommands } from './boundaries.ts'
import { context } from './context.ts'
import { driverCommands, isDriverCommand, mayAbort, mayCommand } from './driver.ts'
import type { CommandTemplate, Family, Rule, Rules } from './family.ts'
import { forks } from './forks.ts'
import { lines } from './lines.ts'
import { marks } from './marks.ts'
import { metadataCommands } from './metadata.ts'
import { modelCommands } from './models.ts'
import { prompts } from './prompts.ts'
import { queues } from './queues.ts'
import { skillCommands } from './skills.ts'
import { trust } from './trust.ts'
import { turns } from './turns.ts'

/**
 * Every command belongs to one family; a test checks that. The first number is how often a family is drawn. It does not
 * follow from the number of its commands, so that adding a command leaves the runs of the other families as they are.
 */
const families: readonly (readonly [weight: number, family: Family])[] = [
  [3, prompts],
  [4, queues],
  [2, turns],
  [2, approvals],
  [2, trust],
  [2, driverCommands],
  [4, lines],
  [3, marks],
  [3, context],
  [1, forks],
  [1, metadataCommands],
  [1, boundaryCommands],
  [1, skillCommands],
  [1, modelCommands],
]

/** Draws a command. Each draw takes one number from the run's random stream, and the family its own stream from that. */
export const aCommand: Arbitrary<CommandTemplate> = fc.oneof(
  ...families.map(([weight, { templates }]) => ({ weight, arbitrary: ownStream(fc.oneof(...templates)) })),
)

function ownStream<Value>(arbitrary: Arbitrary<Value>): Arbitrary<Value> {
  return fc.noShrink(fc.integer()).map((seed) => {
    const [value] = fc.sample(arbitrary, { seed, numRuns: 1, unbiased: true })
    invariant(value !== undefined, 'a family has templates')
    return value
  })
}

const rules: Rules = Object.assign({}, ...families.map(([, { rules }]) => rules))

export const knownCommands: readonly string[] = Object.keys(rules)

export type SentCommand = {
  readonly id: string
  readonly by: Sender
  readonly command: CommandInput
  /** Identifies each sending, to match pending requests with their answers. */
  readonly ticket: number
}

/** Predicts the outcome of a command from any sender, sent once or again. */
export function predictOutcome(woken: State, { id, by, command, ticket }: SentCommand, seq: number): Outcome {
  const state = { ...woken, isLoaded: true }
  const first = state.answered.get(id)
  if (first && !isSameCommand(first.command, command)) return refused(state, 'command_id_reused')
  if (first) return again(state, first)
  const may = command.type === 'abort' ? mayAbort : mayCommand
  if (!isDriverCommand(command) && !may(state, by)) return refused(state, 'not_driver')
  const rule = rules[command.type] as Rule<typeof command.type> | undefined // looked up by its own type
  if (!rule) throw new Error(`no rule for ${command.type}: add it to a family`)
  return rule(state, command as never, { by, seq, id, ticket })
}

/** Returns whether two commands say the same. A client event is identified by its content. */
function isSameCommand(one: CommandInput, other: CommandInput): boolean {
  const [left, right] = [Command.parse(one), Command.parse(other)]
  if (left.type === 'appendClientEvent' && right.type === 'appendClientEvent')
    return isDeepStrictEqual(left.event, right.event)
  return isDeepStrictEqual(left, right)
}

const again = (state: State, first: Answer): Outcome => ({
  state,
  says: { ok: true, isChange: false, result: first.result, first },
})
