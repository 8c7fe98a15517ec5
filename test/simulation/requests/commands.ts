import {
  type CommandInput,
  type Content,
  invariant,
  isMessageEvent,
  MessageId,
  type ModelName,
  type SeedMessage,
  type ThinkingLevel,
  TurnNumber,
} from '@holdfast/protocol'
import { aGif, aPdf, aPng } from '@holdfast/testkit'
import type { ConversationMessage } from '../../../packages/holdfast/src/conversations/message.ts'
import { toSeed } from '../../../packages/holdfast/src/conversations/to-seed.ts'
import { count } from '../coverage.ts'
import { settlePromises } from '../scheduler.ts'
import type { RequestsFixture } from './fixture.ts'
import { all, type Break, isWanted } from './scripted-agents.ts'
import { type Said, sayable, serviceOf } from './service-apis.ts'

/** The state that decides whether a step applies. */
export type Seen = { readonly isIdle: boolean; readonly asks: boolean }

/** One step of a run. It prints as code, so that a failing run can be saved as a regression test. */
export type Step = {
  readonly kind: string
  readonly code: string
  readonly isApt: (fixture: RequestsFixture, seen: Seen) => boolean
  readonly run: (fixture: RequestsFixture) => Promise<void>
}

const spell = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(', ')

function step(kind: string, values: readonly unknown[], run: Step['run'], isApt: Step['isApt'] = () => true): Step {
  return { kind, code: `${kind}(${spell(values)})`, isApt, run }
}

const atRest: Step['isApt'] = (_, { isIdle }) => isIdle

/** Sends a command. */
const ask =
  (kind: string, command: CommandInput): Step['run'] =>
  async (fixture) => {
    const answer = await fixture.submit(command)
    count(`${kind}: ${answer === null ? 'not answered' : answer.ok ? 'accepted' : answer.fault.code}`)
  }

const pickOf = <Item>(items: readonly Item[], pick: number): Item | undefined => items[pick % items.length]

const files = {
  png: ['image/png', aPng()],
  gif: ['image/gif', aGif],
  pdf: ['application/pdf', aPdf],
  text: ['text/markdown', new TextEncoder().encode('# Hi')],
} as const
export type FileName = keyof typeof files
export const fileNames = Object.keys(files) as readonly FileName[] // the keys of a literal

/** Sends a prompt, with or without files. It is steering if a turn runs. */
export const prompt = (text: string, ...names: readonly FileName[]): Step =>
  step('prompt', [text, ...names], async (fixture) => {
    const parts: Content = [{ type: 'text', text }]
    for (const name of names) {
      const [mediaType, bytes] = files[name]
      const stored = await fixture.blobs.put([bytes])
      invariant(stored.ok, 'memory takes it')
      parts.push({ type: 'file', blob: stored.value.hash, mediaType, name: `${name}\ud800`, bytes: bytes.length })
      count(`file: ${name}`)
    }
    await ask('prompt', { type: 'sendPrompt', content: parts })(fixture)
  })
export const steer = (text: string): Step =>
  step('steer', [text], ask('steer', { type: 'queueSteering', content: text }))
export const followUp = (text: string): Step =>
  step('followUp', [text], ask('followUp', { type: 'queueFollowUp', content: text }))
export const abort = (): Step => step('abort', [], ask('abort', { type: 'abort' }))
export const goOn = (): Step => step('goOn', [], ask('goOn', { type: 'continue' }), atRest)

const answers: Step['isApt'] = ({ scriptedAgents }) => scriptedAgents.answering.some(isWanted)

/** Sends a few more events of an answer, or all of them. */
export const piece = (answer: readonly Said[], events: number): Step =>
  step('piece', [answer, events], async ({ scriptedAgents }) => say(scriptedAgents, answer, events), answers)
export const reply = (answer: readonly Said[]): Step =>
  step('reply', [answer], async ({ scriptedAgents }) => say(scriptedAgents, answer, all), answers)
export const breakOff = (how: Break): Step =>
  step(
    'breakOff',
    [how],
    async ({ scriptedAgents }) => {
      scriptedAgents.answering.find(isWanted)?.breakOff(how)
      count(`breakOff: ${how}`)
    },
    answers,
  )

function say({ answering }: RequestsFixture['scriptedAgents'], answer: readonly Said[], events: number): void {
  const one = answering.find(isWanted)
  if (!one) return
  one.say(answer, events)
  for (const { type } of sayable(one.model, answer)) count(`${serviceOf(one.model)} gives ${type}`)
}

const results = { ok: 'ok', failed: 'failed' } as const

/** Starts a tool or ends it. */
export const begin = (pick: number): Step =>
  step(
    'begin',
    [pick],
    async ({ scriptedAgents }) =>
      pickOf(
        scriptedAgents.working.filter((one) => isWanted(one) && !one.isBegun),
        pick,
      )?.begin(),
    ({ scriptedAgents }) => scriptedAgents.working.some((one) => isWanted(one) && !one.isBegun),
  )
export const work = (pick: number, result: keyof typeof results, text: string): Step =>
  step(
    'work',
    [pick, result, text],
    async ({ scriptedAgents }) =>
      pickOf(scriptedAgents.working.filter(isWanted), pick)?.end({ type: results[result], output: { text } }),
    ({ scriptedAgents }) => scriptedAgents.working.some(isWanted),
  )
/** Lets an aborted call, or one of a killed process, answer late. */
export const late = (pick: number, answer: readonly Said[]): Step =>
  step(
    'late',
    [pick, answer],
    async ({ scriptedAgents }) => {
      const one = pickOf(
        [...scriptedAgents.answering, ...scriptedAgents.working].filter((held) => !isWanted(held)),
        pick,
      )
      if (!one) return
      if ('end' in one) one.end({ type: 'ok', output: { text: 'too late' } })
      else one.say(answer, all)
      count(`late: ${'end' in one ? 'tool' : 'answer'} of the ${one.life.status}`)
    },
    ({ scriptedAgents }) => [...scriptedAgents.answering, ...scriptedAgents.working].some((held) => !isWanted(held)),
  )

const asks: Step['isApt'] = (_, seen) => seen.asks

export const approve = (decision: 'approve' | 'approve_turn' | 'approve_session'): Step =>
  step('approve', [decision], ask('approve', { type: 'respondToApproval', decision }), asks)
export const deny = (message: string): Step =>
  step('deny', [message], ask('deny', { type: 'respondToApproval', decision: 'reject', message }), asks)

export const crash = (how: 'killed' | 'paused'): Step =>
  step('crash', [how], async (fixture) => {
    await fixture.crash(how)
    count(`crash: ${how}`)
  })
export const unload = (): Step => step('unload', [], (fixture) => fixture.unload())
/** Waits long enough for a draft to be saved. */
export const wait = (): Step =>
  step('wait', [], async ({ clock }) => {
    clock.advance(1000)
    await settlePromises()
  })

const turn = (number: number) => TurnNumber.parse(number)

export const branch = (at: number): Step =>
  step('branch', [at], ask('branch', { type: 'branchAt', turn: turn(at) }), atRest)
export const rewind = (at: number): Step =>
  step('rewind', [at], ask('rewind', { type: 'rewind', turn: turn(at) }), atRest)
export const switchTo = (index: number): Step =>
  step('switchTo', [index], ask('switchTo', { type: 'switchBranch', branch: index }), atRest)
/** Forks, and continues with the fork or the original. */
export const fork = (at: number | null, goes: boolean): Step =>
  step('fork', [at, goes], async (fixture) => {
    const known = fixture.sessions.length
    await ask('fork', { type: 'fork', ...(at !== null && { at: turn(at) }) })(fixture)
    const born = fixture.sessions.at(-1)
    if (goes && born && fixture.sessions.length > known && (await fixture.store.entry(born))) fixture.visit(born)
  })
export const visit = (pick: number): Step =>
  step(
    'visit',
    [pick],
    async (fixture) => {
      const one = pickOf(fixture.sessions, pick)
      if (one && (await fixture.store.entry(one))) fixture.visit(one)
    },
    ({ sessions }) => sessions.length > 1,
  )

export const compact = (): Step => step('compact', [], ask('compact', { type: 'compact' }), atRest)
export const undo = (): Step => step('undo', [], ask('undo', { type: 'undoCompaction' }), atRest)
/** Makes the context of all models so small that compaction starts automatically. */
export const narrow = (tokens: number): Step =>
  step('narrow', [tokens], async ({ scriptedAgents }) => scriptedAgents.narrow(tokens))
export const checkpoint = (messages: readonly SeedMessage[]): Step =>
  step('checkpoint', [messages], ask('checkpoint', { type: 'appendCheckpoint', messages: [...messages] }), atRest)
export const summary = (text: string): Step =>
  step('summary', [text], ask('summary', { type: 'setSummary', summary: text }), atRest)
export const truncate = (keepLast: number): Step =>
  step('truncate', [keepLast], ask('truncate', { type: 'truncateHistory', keepLast }), atRest)
export const seed = (messages: readonly SeedMessage[]): Step =>
  step('seed', [messages], ask('seed', { type: 'seedMessages', messages: [...messages] }), atRest)
export const setHistory = (messages: readonly SeedMessage[]): Step =>
  step('setHistory', [messages], ask('setHistory', { type: 'setHistory', messages: [...messages] }), atRest)

/** Adds messages of a conversation that a program runs. */
export const lead = (messages: readonly ConversationMessage[], together: number): Step =>
  step(
    'lead',
    [messages, together],
    async (fixture) => {
      for (let at = 0; at < messages.length; at += together + 1) {
        const some = messages.slice(at, at + together + 1).map(toSeed)
        await ask('lead', { type: 'seedMessages', messages: some })(fixture)
      }
    },
    atRest,
  )

export const switchModel = (model: ModelName): Step =>
  step('switchModel', [model], ask('switchModel', { type: 'setModel', model }))
export const think = (level: ThinkingLevel): Step =>
  step('think', [level], ask('think', { type: 'setThinkingLevel', level }))
export const mode = (name: 'enterPlan' | 'enterExec'): Step => step('mode', [name], ask('mode', { type: name }))

export const pin = (pick: number): Step =>
  step('pin', [pick], async (fixture) => {
    const records = await fixture.store.read(fixture.session, { after: 0, limit: 1000 })
    const messages = records.flatMap((record) =>
      'lost' in record || !isMessageEvent(record.event) ? [] : [record.seq],
    )
    const message = pickOf(messages, pick)
    if (message !== undefined) await ask('pin', { type: 'togglePin', message: MessageId.parse(message) })(fixture)
  })
