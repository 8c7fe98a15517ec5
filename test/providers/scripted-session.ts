import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSession, type Session } from '@holdfast/client'
import { invariant, orThrow, providerOf, type SessionId } from '@holdfast/protocol'
import type { AnyBlock, HistoryProvider, ProxiedRequest } from '@holdfast/testkit'
import { openHoldfast } from 'holdfast'
import { startServerProcess } from '../e2e/server-process.ts'
import type { ScriptedModels } from './scripted-models.ts'
import type { ServiceCase } from './services.ts'
import { waitForRest, waitForText } from './wait-for.ts'

const think = (name: string): AnyBlock => ({ type: 'think', text: `Thought ${name}.`, opaque: `opaque+/${name}=` })
const say = (text: string): AnyBlock => ({ type: 'say', text, opaque: `sig+/${text.slice(0, 8)}=` })
const read = (path: string, opaque?: string): AnyBlock => ({
  type: 'call',
  tool: 'read_file',
  args: { path },
  ...(opaque !== undefined && { opaque }),
})
const longTale = 'and so on, and on, '.repeat(30)

/** One finished session and its requests. */
export type FinishedSession = {
  readonly session: SessionId
  readonly requests: readonly ProxiedRequest[]
  /** The end reasons of its turns, in order. */
  readonly ends: readonly string[]
}
export type FinishedSessions = AsyncDisposable & {
  readonly dataDir: string
  of(service: HistoryProvider): FinishedSession
}

type SessionRun = {
  readonly stage: ScriptedModels
  readonly about: ServiceCase
  readonly requests: ProxiedRequest[]
  readonly ends: string[]
  session: Session
}

/**
 * Runs the same session with each service: text, thinking, two calls of which one fails, steering, an abort during an
 * answer, another model and back. Then the process is killed during all answers, and another process continues them.
 */
export async function runSessions(stage: ScriptedModels, cases: readonly ServiceCase[]): Promise<FinishedSessions> {
  await using opened = new AsyncDisposableStack() // if a step throws
  const home = await mkdtemp(join(tmpdir(), 'holdfast-providers-'))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  const workdir = join(home, 'work')
  await mkdir(workdir)
  await writeFile(join(workdir, 'a.txt'), 'The first file.\n')

  const server = await startServerProcess({ home, env: stage.environment })
  opened.defer(() => server.kill())
  const runs: SessionRun[] = []
  for (const about of cases) {
    const { model } = about
    const session = createSession(orThrow(await server.sessions.start({ workdir, model, thinkingLevel: 'high' })))
    runs.push({ stage, about, requests: [], ends: [], session })
  }
  /** Runs one after the other, so that each knows its own requests. */
  const eachInTurn = async (act: (run: SessionRun) => Promise<void>) => {
    for (const run of runs) {
      const before = stage.requests.length
      await act(run)
      run.requests.push(...stage.requests.slice(before))
    }
  }
  await eachInTurn(steer)
  await eachInTurn(abort)
  await eachInTurn(switchAndBack)
  await eachInTurn(startCutAnswer)
  await server.kill()
  stage.hurry()

  const holdfast = opened.use(
    await openHoldfast({ environment: { ...process.env, ...stage.environment, HOLDFAST_HOME: home } }),
  )
  for (const run of runs) run.session = await holdfast.getSession(run.session.id)
  await eachInTurn(continueAfterCrash)
  await holdfast.close()
  const kept = opened.move()

  return {
    dataDir: join(home, 'data'),
    of(service) {
      const run = runs.find(({ about }) => about.service === service)
      invariant(run, `${service} has no session`)
      return { session: run.session.id, requests: run.requests, ends: run.ends }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Two parallel calls, one of which fails; then steering during the next answer. */
async function steer({ stage, about: { service }, session, ends }: SessionRun): Promise<void> {
  stage.says(service, [think('one'), say('Both at once.'), read('a.txt', 'sig+/a='), read('gone.txt')])
  stage.says(service, [say('Slowly, then, I read it again.'), read('a.txt', 'sig+/b=')], 'slow')
  stage.says(service, [think('two'), say('I mind the gap.')])
  await session.sendPrompt('Read both files.')
  await waitForText(session, 'Slowly')
  await session.queueSteering('Mind the gap.')
  stage.hurry()
  ends.push(await waitForRest(session))
}

async function abort({ stage, about: { service }, session, ends }: SessionRun): Promise<void> {
  stage.says(service, [say(`Once upon a time, ${longTale}`)], 'slow')
  await session.sendPrompt('Tell a long tale.')
  await waitForText(session, 'Once')
  await session.abort()
  ends.push(await waitForRest(session))
  stage.hurry()
}

async function switchAndBack({ stage, about: { service, model, other }, session, ends }: SessionRun): Promise<void> {
  await session.setModel(other)
  stage.says(serviceOf(other), [think('three'), read('a.txt', 'sig+/c=')])
  stage.says(serviceOf(other), [think('four'), say('I am another.')])
  await session.sendPrompt('Who are you?')
  ends.push(await waitForRest(session))
  await session.setModel(model)
  stage.says(service, [think('five'), read('a.txt', 'sig+/d=')])
  stage.says(service, [say('I am back.')])
  await session.sendPrompt('And you?')
  ends.push(await waitForRest(session))
}

/** Starts an answer that the crash cuts. */
async function startCutAnswer({ stage, about: { service }, session }: SessionRun): Promise<void> {
  stage.says(service, [say(`Until the end, ${longTale}`)], 'slow')
  await session.sendPrompt('Tell another.')
  await waitForText(session, 'Until')
}

async function continueAfterCrash({ stage, about: { service }, session, ends }: SessionRun): Promise<void> {
  ends.push(await waitForRest(session))
  stage.says(service, [think('six'), say('Where was I?')])
  await session.continue().accepted
  ends.push(await waitForRest(session))
  stage.says(service, [think('seven'), read('a.txt', 'sig+/e='), read('a.txt')])
  stage.says(service, [say('The end.')])
  await session.sendPrompt('Finish it.')
  ends.push(await waitForRest(session))
}

const serviceNames: ReadonlyMap<string, HistoryProvider> = new Map([
  ['anthropic', 'anthropic'],
  ['openai', 'openai-responses'],
  ['openai-chat', 'openai-chat'],
  ['google', 'gemini'],
])

export function serviceOf(model: string): HistoryProvider {
  const service = serviceNames.get(providerOf(model))
  invariant(service, `${model} is of a service we know`)
  return service
}
