import type { Answer } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { isAttached, isDriverCommand } from '../family/driver.ts'
import { type CommandTemplate, pickOf } from '../family/family.ts'
import { aCommand, predictOutcome, type SentCommand } from '../family/predict-outcome.ts'
import type { Action, BoundAction, ModelRun } from '../model-run.ts'
import type { RealSession } from '../real/real-session.ts'
import type { Sender, State } from '../state.ts'

const nameOf = (by: Sender) => (by === null ? 'null' : `'${by}'`)

/** Sends a command. With `again`, it reuses the id of an earlier command by mistake. */
export const ask = (by: Sender, template: CommandTemplate, again: number | null = null): Action => ({
  code: `ask(${nameOf(by)}, ${template.code}${again === null ? '' : `, ${again}`})`,
  bind: (modelRun, real) => bindCommand(note(modelRun, by, template, again), modelRun, real),
})

/** Sends a command again, from the same client or another one. */
export const retry = (by: Sender | 'same', pick: number): Action => ({
  code: `retry(${by === 'same' ? "'same'" : nameOf(by)}, ${pick})`,
  bind: (modelRun, real) => {
    const { sent } = modelRun
    const one = sent.at(-1 - (pick % Math.max(1, sent.length)))
    return one ? bindCommand(by === 'same' ? one : { ...one, by }, modelRun, real) : null
  },
})

/** Returns whether the command would change something: most commands of a run should. */
export const isUseful =
  (by: Sender, template: CommandTemplate) =>
  (state: State): boolean => {
    const command = template.command(state)
    // Refusals of an attached client are rare otherwise: it must view while another one drives.
    if (isDriverCommand(command)) return by !== null && isAttached(state, by)
    const { says } = predictOutcome(state, { id: 'never sent', by, command, ticket: -1 }, 0)
    return says.ok && (says.isChange || says.isPending === true)
  }

export function note(modelRun: ModelRun, by: Sender, template: CommandTemplate, again: number | null): SentCommand {
  const { sent, state } = modelRun
  const former = again === null ? null : pickOf([...state.answered.keys()], again)
  const ticket = ++modelRun.tickets
  const asked = { id: former ?? `cmd-${ticket}`, by, command: template.command(state), ticket }
  sent.push(asked)
  return asked
}

/** Sends the command, except a second summary command while one of its kind runs. */
export function bindCommand(sent: SentCommand, modelRun: ModelRun, real: RealSession): BoundAction | null {
  const asked = { ...sent, ticket: ++modelRun.tickets }
  const { type } = asked.command
  if (modelRun.state.sideWork.some(({ kind }) => kind === type)) return null
  modelRun.commands.set(asked.ticket, asked.id)
  return {
    sends: type,
    ticket: asked.ticket,
    ...((type === 'compact' || type === 'summarize') && { rival: type }),
    perform: () => real.submit(asked),
    steps: [
      (state, got) => {
        const { state: after, says } = predictOutcome(state, asked, got?.ok ? got.value.seq : 0)
        const isAdmitted = says.ok && says.isChange && got?.ok
        const answered = isAdmitted
          ? new Map(after.answered).set(asked.id, { ...got.value, command: asked.command })
          : after.answered
        return {
          says,
          state: { ...after, answered, forks: got?.ok ? heardOf(after, asked.id, got.value) : after.forks },
        }
      },
    ],
  }
}

/** Stores the session id of a fork from its answer. */
const heardOf = ({ forks }: State, id: string, { result }: Answer): State['forks'] =>
  forks.map((fork) => (fork.command === id && fork.name === null ? { ...fork, name: String(result['session']) } : fork))

export const aSender: Arbitrary<Sender> = fc.constantFrom(null, null, null, 'ann', 'ann', 'bob')

export const aSendCommand: Arbitrary<Action> = fc.oneof(
  {
    weight: 16,
    arbitrary: fc
      .tuple(aSender, aCommand)
      .map(([by, template]) => ({ ...ask(by, template), isApt: isUseful(by, template) })),
  },
  { weight: 4, arbitrary: fc.tuple(aSender, aCommand).map(([by, template]) => ask(by, template)) },
  {
    weight: 1,
    arbitrary: fc.tuple(aSender, aCommand, fc.nat(5)).map(([by, template, again]) => ask(by, template, again)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('same' as const, null, 'ann' as const, 'bob' as const), fc.nat(5))
      .map(([by, pick]) => retry(by, pick)),
  },
)
