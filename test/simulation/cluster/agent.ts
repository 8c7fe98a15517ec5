import type { ModelEnd, ModelPart, Models, Provider, Tool, Tools } from '@holdfast/core/ports'
import { invariant } from '@holdfast/protocol'
import { aSubagentTool, type Dice, modelsWith, scriptedUsage } from '@holdfast/testkit'
import type { SimProcess } from './sim-process.ts'

type Parts = { readonly process: SimProcess; readonly dice: Dice; readonly node: string }

/** A prompt with this word may start a subagent. */
export const delegate = 'Delegate'

const aborted: ModelEnd = { type: 'aborted' }

/** Waits by the clock of the process. An abort ends the wait. */
const pause = ({ clock }: SimProcess, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      cancel()
      resolve()
    }
    const cancel = clock.after(delayMs, end)
    signal.addEventListener('abort', end, { once: true })
  })

/** Creates a model that says some words and calls `touch`, with a nonce that no other call has, or starts a subagent. */
export function createModels({ process, dice, node }: Parts): Models {
  let calls = 0

  async function* stream(mayDelegate: boolean, signal: AbortSignal): AsyncGenerator<ModelPart> {
    for (const text of ['Let ', 'me ', 'look.'].slice(dice.below(3))) {
      await pause(process, 20 + dice.below(200), signal)
      if (signal.aborted) return yield { type: 'end', end: aborted }
      yield { type: 'delta', part: 0, kind: 'text', text }
    }
    yield { type: 'said', part: 0, said: { type: 'text', text: 'Let me look.' } }
    const hasCall = dice.chance(2, 3)
    if (hasCall) {
      const touching = { type: 'call', tool: 'touch', args: { nonce: `${node}-${calls++}` } } as const
      const delegating = { type: 'call', tool: 'subagent', args: { task: 'Look around.' } } as const
      yield { type: 'said', part: 1, said: mayDelegate ? delegating : touching }
    }
    yield { type: 'end', end: { type: 'complete', finish: hasCall ? 'calls' : 'stop', usage: scriptedUsage } }
  }

  const provider: Provider = {
    stream: ({ messages }, { signal }) => stream(JSON.stringify(messages.at(-1)).includes(delegate), signal),
  }
  return modelsWith(() => ({ type: 'ready', provider }))
}

/** Told about each change that a tool makes. */
export type EffectWatch = {
  /** Before the first change of a call. */
  readonly begins: (nonce: string) => void
  /** At each change. */
  readonly acts: (nonce: string, session: string) => void
}

/** Creates a tool that changes something several times, for up to ten seconds, and one that starts subagents. */
export function createTools({ process, dice }: Parts, watch: EffectWatch): Tools {
  const touch: Tool = {
    schema: { name: 'touch', description: 'touch something', input: { type: 'object' } },
    isDestructive: true,
    isReadOnly: false,
    prepare: async (args) => ({ type: 'ready', args, preview: { type: 'arguments', args: { ...args } } }),
    async run(args, { session }, { signal, begin }) {
      invariant(session, 'a call has a session')
      const nonce = String(args['nonce'])
      await begin()
      watch.begins(nonce)
      for (let changes = dice.pick([0, 2, 5, 20]) ?? 0; changes > 0; changes--) {
        await pause(process, dice.below(500), signal)
        if (signal.aborted) return { type: 'failed', output: { text: 'stopped' } }
        watch.acts(nonce, session)
      }
      return { type: 'ok', output: { text: 'touched' } }
    },
  }
  const all = [touch, aSubagentTool()]
  return {
    all,
    find: (name) => all.find(({ schema }) => schema.name === name) ?? null,
    endLeftover: async () => undefined,
  }
}
