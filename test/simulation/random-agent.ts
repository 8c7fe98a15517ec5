import type {
  Instructions,
  ModelEnd,
  ModelPart,
  ModelRequest,
  Models,
  Provider,
  SaidPart,
  Tool,
  Tools,
} from '@holdfast/core/ports'
import { type Dice, modelsWith, scriptedUsage } from '@holdfast/testkit'
import type { DurableLog } from './durable-log.ts'
import type { Life, Scheduler, StepStart } from './scheduler.ts'

/** A request to the model, with the start of its step. */
export type AskedModel = { readonly start: StepStart; readonly request: ModelRequest }

type Parts = {
  readonly life: Life
  readonly scheduler: Scheduler
  readonly durableLog: DurableLog
  readonly dice: Dice
  /** The requests to the model, with their steps. */
  readonly requests: AskedModel[]
}

const aborted: ModelEnd = { type: 'aborted' }
const failed: Extract<ModelEnd, { type: 'failed' }> = {
  type: 'failed',
  fault: { kind: 'unreachable', message: 'The model cannot be reached.' },
  retryable: true,
  retryAfterMs: null,
  usage: null,
}

/** Retry times of an overloaded service; undefined if it gives none. The last is too long to wait for. */
const overloads = [null, null, 0, 700, 4000, 90_000] as const
const spares = ['sim/spare', 'sim/last'] as const

const toolNames = [
  'look',
  'touch',
  'touch',
  'touch',
  'print',
  'print',
  'break',
  'nowhere',
  'no such tool!',
  'refuse',
] as const

/** Creates a model that randomly thinks, answers, calls tools, waits, fails and throws. */
export function createModels({ life, scheduler, durableLog, dice, requests }: Parts): Models {
  let nonce = 0

  const callPart = (): SaidPart => {
    const name = dice.pick(toolNames) ?? 'look'
    const args = { nonce: `${life.node}-${nonce++}`, text: dice.pick(['plain', 'a\ud800b', '']) }
    return { type: 'call', tool: name, args, ...(dice.chance(1, 8) && { malformed: 'not JSON' }) }
  }
  const saidPart = (): SaidPart => {
    if (dice.chance(3, 5)) return callPart()
    if (dice.chance(1, 3)) return { type: 'thinking', text: 'Let me think.', meta: { sim: { signature: 'opaque' } } }
    return { type: 'text', text: dice.pick(['Done, I believe.', ' ', 'Half a pair: \ud83d', '']) ?? '' }
  }

  async function* stream(signal: AbortSignal): AsyncGenerator<ModelPart> {
    if (dice.chance(1, 5)) {
      if (dice.chance(1, 2)) await scheduler.pass(life, 'overload')
      return yield {
        type: 'end',
        end: signal.aborted ? aborted : { ...failed, retryAfterMs: dice.pick(overloads) ?? null },
      }
    }
    const parts = Array.from({ length: dice.below(5) }, saidPart)
    for (const [part, whole] of parts.entries()) {
      if (whole.type !== 'call') {
        for (const text of whole.text.match(/.{1,9}/gsu) ?? []) {
          yield { type: 'delta', part, kind: whole.type, text }
          if (dice.chance(1, 2)) await scheduler.pass(life, 'word')
          if (signal.aborted) return yield { type: 'end', end: aborted }
        }
      }
      if (dice.chance(1, 20)) throw new Error('the provider broke its promise')
      if (dice.chance(1, 12)) return yield { type: 'end', end: failed }
      yield { type: 'said', part, said: whole }
    }
    await scheduler.pass(life, 'end of an answer')
    if (signal.aborted) return yield { type: 'end', end: aborted }
    const finish = parts.some(({ type }) => type === 'call') ? 'calls' : 'stop'
    yield { type: 'end', end: { type: 'complete', finish, usage: scriptedUsage } }
  }

  const provider: Provider = {
    stream: (request, { signal }) => {
      // The model may be asked while the start of its step is being written.
      const last = durableLog.records.findLast(({ event }) => event.type === 'step.started')?.seq ?? 0
      const isForeseen = life.isPrompting === true && !life.starting
      const start = life.starting ?? (isForeseen ? { step: 0, isDurable: false } : { step: last, isDurable: true })
      const { step } = start
      if (isForeseen) life.foreseen = { start, signal }
      if (life.status === 'living') {
        if (!isForeseen && requests.some(({ start: one }) => one.step === step && one.isDurable))
          durableLog.mustBeSilent(step)
        requests.push({ start, request })
      }
      return stream(signal)
    },
  }
  return modelsWith(() => ({ type: 'ready', provider }), {
    fallback: async (_, tried) => spares.find((one) => !tried.includes(one)) ?? null,
  })
}

/** Creates tools whose changes are checked against the log. */
export function createTools({ life, scheduler, durableLog, dice }: Parts): Tools {
  const tool = (name: string, isDestructive: boolean): Tool => ({
    schema: { name, description: `${name} something`, input: { type: 'object' } },
    isDestructive,
    isReadOnly: !isDestructive,
    async prepare(args) {
      if (dice.chance(1, 2)) await scheduler.pass(life, `preparation of ${name}`)
      if (name === 'refuse') return { type: 'unusable', message: 'not with these arguments' }
      return { type: 'ready', args, preview: { type: 'arguments', args: { ...args } } }
    },
    async run(args, _, { signal, begin, show }) {
      if (dice.chance(1, 10)) return { type: 'failed', output: { text: '' } } // aborted at the last check
      await begin(dice.chance(1, 4) ? { group: 4242, startedAt: 'boot:1' } : undefined)
      durableLog.mustBeStarted(String(args['nonce']), life.status === 'living', !isDestructive)
      show('working')
      if (dice.chance(2, 3)) await scheduler.pass(life, `work of ${name}`)
      show(signal.aborted ? 'too late' : 'done')
      if (name === 'break') throw new Error('the tool broke')
      return { type: dice.chance(1, 5) ? 'failed' : 'ok', output: { text: dice.pick(['fine', '', 'x\udfff']) ?? '' } }
    },
  })
  const all = [
    tool('look', false),
    tool('touch', true),
    tool('print', false),
    tool('break', true),
    tool('refuse', true),
  ]
  return {
    all,
    find: (name) => all.find(({ schema }) => schema.name === name) ?? null,
    endLeftover: async () => undefined,
  }
}

export const createInstructions = ({ life, scheduler, dice }: Parts): Instructions => ({
  async gather({ mode }) {
    if (dice.chance(1, 2)) await scheduler.pass(life, 'instructions')
    return `You are in ${mode} mode.`
  },
  list: async () => [],
})
