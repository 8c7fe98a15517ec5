import type { ModelPart, ModelRequest, Models, Tool, ToolResult, Tools } from '@holdfast/core/ports'
import { createGate, modelsWith, scriptedUsage } from '@holdfast/testkit'
import type { Life } from '../../scheduler.ts'
import { levelsOf, noModel, stops } from '../family/models.ts'
import { spareModel, type ToolUse } from '../state.ts'

/** When an overload is over, as the service says: too late to be waited for, or not. */
export type Overload = 'in a while' | 'in an hour'

/** Longer than any wait of our own before a call is tried again: the shorter of the two is not kept to. */
export const aWhileMs = 6000

/** What is a failure and no overload would fail again. */
export type Ending = { readonly text: string; readonly uses: readonly ToolUse[] } | 'failure' | Overload

type Held = { readonly life: Life; readonly signal: AbortSignal }
/** An answer that is being given, to what was asked. */
export type Answering = Held & { readonly request: ModelRequest; say(text: string): void; end(ending: Ending): void }
/** A call that is being run. */
export type Working = Held & ToolUse & { end(result: ToolResult['type']): void }

/**
 * A model and tools that do nothing but what the run says, when it says so. They are stubborn: told to stop, they go on
 * and speak up later, which must not matter.
 */
export type ScriptedAgents = {
  readonly answering: readonly Answering[]
  readonly working: readonly Working[]
  models(life: Life): Models
  tools(life: Life): Tools
}

/** Whether anyone still waits for what it does. */
export const isWanted = ({ life, signal }: Held): boolean => life.status === 'living' && !signal.aborted

/** What a summary is asked for; null for the next answer of a turn. */
export function purposeOf({ request }: Answering): 'compact' | 'summarize' | null {
  if (request.purpose !== 'summary') return null
  return JSON.stringify(request.messages).includes('Open questions') ? 'summarize' : 'compact'
}

/** The answer that the turn waits for. */
export const answerTo = ({ answering }: ScriptedAgents): Answering | undefined =>
  answering.find((one) => isWanted(one) && purposeOf(one) === null)

const failure = { kind: 'unreachable', message: 'The model cannot be reached.' } as const

export function createScriptedAgents(): ScriptedAgents {
  let answering: readonly Answering[] = []
  let working: readonly Working[] = []

  async function* stream(life: Life, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    let words: readonly string[] = []
    let ending: Ending | null = null
    let gate = createGate()
    const mine: Answering = {
      life,
      signal,
      request,
      say(text) {
        words = [...words, text]
        gate.open()
      },
      end(how) {
        answering = answering.filter((one) => one !== mine)
        ending ??= how
        gate.open()
      },
    }
    answering = [...answering, mine]
    for (let said = ''; ; ) {
      await gate.pass()
      gate = createGate()
      const [now, last] = [words, ending]
      words = []
      for (const text of now) yield { type: 'delta', part: 0, kind: 'text', text }
      said += now.join('')
      if (last !== null) return yield* closing(last, said)
    }
  }

  const run =
    (life: Life, tool: ToolUse['tool']): Tool['run'] =>
    async (args, _, { signal, begin, show }) => {
      await begin()
      const done = Promise.withResolvers<ToolResult>()
      const mine: Working = {
        ...{ life, signal, tool, n: Number(args['n']) },
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
      return { all, find, endLeftover: async () => undefined }
    },
  }
}

function* closing(ending: Ending, said: string): Generator<ModelPart> {
  if (typeof ending === 'string') {
    const retryable = ending !== 'failure'
    const retryAfterMs = ending === 'in a while' ? aWhileMs : retryable ? 3_600_000 : null
    yield { type: 'end', end: { type: 'failed', fault: failure, retryable, retryAfterMs, usage: null } }
    return
  }
  const text = said + ending.text
  if (text !== '') yield { type: 'said', part: 0, said: { type: 'text', text } }
  for (const [index, { tool, n }] of ending.uses.entries())
    yield { type: 'said', part: index + 1, said: { type: 'call', tool, args: { n } } }
  yield {
    type: 'end',
    end: { type: 'complete', finish: ending.uses.length > 0 ? 'calls' : 'stop', usage: scriptedUsage },
  }
}
