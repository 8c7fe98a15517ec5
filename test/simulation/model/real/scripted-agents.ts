import type { BackgroundWork, ModelPart, ModelRequest, Models, Tool, ToolResult, Tools } from '@holdfast/core/ports'
import { noSuchShell, ok, refuse } from '@holdfast/protocol'
import { createGate, modelsWith, scriptedUsage } from '@holdfast/testkit'
import type { Life } from '../../scheduler.ts'
import { levelsOf, noModel, stops } from '../family/models.ts'
import { shellId } from '../family/turns.ts'
import { spareModel, type ToolUse } from '../state.ts'

/** The retry time of an overloaded service: short enough to wait for, or not. */
export type Overload = 'in a while' | 'in an hour'

/** Longer than our own retry delays, so that it is the one that counts. */
export const aWhileMs = 6000

/** A failure that a retry would not fix. */
export type Ending = { readonly text: string; readonly uses: readonly ToolUse[] } | 'failure' | Overload

type Held = { readonly life: Life; readonly signal: AbortSignal }
/** A running answer, with its request. */
export type Answering = Held & { readonly request: ModelRequest; say(text: string): void; end(ending: Ending): void }
/** A running call. */
export type Working = Held & ToolUse & { end(result: ToolResult['type']): void }

/**
 * A model and tools that the run controls. They ignore an abort and may answer late, which must have no effect.
 */
export type ScriptedAgents = {
  readonly answering: readonly Answering[]
  readonly working: readonly Working[]
  models(life: Life): Models
  tools(life: Life): Tools
}

/** Returns whether its result is still awaited. */
export const isWanted = ({ life, signal }: Held): boolean => life.status === 'living' && !signal.aborted

/** Returns whether aborted work of a process still runs: only then may it report that it unloads a session all the same. */
export const hasDeafWork = ({ answering, working }: ScriptedAgents, life: Life): boolean =>
  [...answering, ...working].some((one) => one.life === life && one.signal.aborted)

/** Returns the purpose of a summary; null for an answer of a turn. */
export function purposeOf({ request }: Answering): 'compact' | 'summarize' | null {
  if (request.purpose !== 'summary') return null
  return JSON.stringify(request.messages).includes('Open questions') ? 'summarize' : 'compact'
}

/** Returns the answer that the turn waits for. */
export const answerTo = ({ answering }: ScriptedAgents): Answering | undefined =>
  answering.find((one) => isWanted(one) && purposeOf(one) === null)

const failure = { kind: 'unreachable', message: 'The model cannot be reached.' } as const

export function createScriptedAgents(): ScriptedAgents {
  let answering: readonly Answering[] = []
  let working: readonly Working[] = []

  async function* stream(life: Life, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    let fragments: readonly string[] = []
    let ending: Ending | null = null
    let gate = createGate()
    const mine: Answering = {
      life,
      signal,
      request,
      say(text) {
        fragments = [...fragments, text]
        gate.open()
      },
      end(how) {
        answering = answering.filter((one) => one !== mine)
        ending ??= how
        gate.open()
      },
    }
    answering = [...answering, mine]
    for (let streamed = ''; ; ) {
      await gate.pass()
      gate = createGate()
      const [now, last] = [fragments, ending]
      fragments = []
      for (const text of now) yield { type: 'delta', part: 0, kind: 'text', text }
      streamed += now.join('')
      if (last !== null) return yield* closing(last, streamed)
    }
  }

  const run =
    (life: Life, tool: ToolUse['tool']): Tool['run'] =>
    async (args, _, { signal, begin, show }) => {
      await begin()
      const done = Promise.withResolvers<ToolResult>()
      const mine: Working = {
        life,
        signal,
        tool,
        n: Number(args['n']),
        end(type) {
          working = working.filter((one) => one !== mine)
          show('done')
          done.resolve({ type, output: { text: 'done' } })
        },
      }
      working = [...working, mine]
      return done.promise
    }

  const tool = (life: Life, name: ToolUse['tool'], isDestructive: boolean): Tool => ({
    schema: { name, description: name, input: { type: 'object' } },
    isDestructive,
    isReadOnly: !isDestructive,
    prepare: async (args) => ({ type: 'ready', args, preview: { type: 'arguments', args: { ...args } } }),
    run: run(life, name),
  })

  return {
    get answering() {
      return answering
    },
    get working() {
      return working
    },
    models: (life) =>
      modelsWith(
        (model) => {
          if (model === noModel) return { type: 'unknown_model', message: 'There is no such model.' }
          const provider = {
            stream: (request: ModelRequest, { signal }: Pick<Held, 'signal'>) => stream(life, request, signal),
          }
          return { type: 'ready', provider, thinkingLevels: levelsOf(model) }
        },
        {
          rotation: () => stops,
          fallback: async (_, tried) => (tried.includes(spareModel) ? null : spareModel),
        },
      ),
    tools(life) {
      const all = [tool(life, 'look', false), tool(life, 'touch', true), tool(life, 'shell', true)]
      const find = (name: string) => all.find(({ schema }) => schema.name === name) ?? null
      return { all, find, endLeftover: async () => undefined, background }
    },
  }
}

/** One command runs for ever, whatever ends it. */
const background: BackgroundWork = {
  running: () => [],
  look: async () => undefined,
  news: () => null,
  list: async () => [],
  stop: async (_, id) => (id === shellId ? ok(null) : refuse(noSuchShell)),
  onChange: () => undefined,
  end: async () => undefined,
  endLeftovers: async () => undefined,
}

function* closing(ending: Ending, streamed: string): Generator<ModelPart> {
  if (typeof ending === 'string') {
    const retryable = ending !== 'failure'
    const retryAfterMs = ending === 'in a while' ? aWhileMs : retryable ? 3_600_000 : null
    yield { type: 'end', end: { type: 'failed', fault: failure, retryable, retryAfterMs, usage: null } }
    return
  }
  const text = streamed + ending.text
  if (text !== '') yield { type: 'said', part: 0, said: { type: 'text', text } }
  for (const [index, { tool, n }] of ending.uses.entries())
    yield { type: 'said', part: index + 1, said: { type: 'call', tool, args: { n } } }
  yield {
    type: 'end',
    end: { type: 'complete', finish: ending.uses.length > 0 ? 'calls' : 'stop', usage: scriptedUsage },
  }
}
