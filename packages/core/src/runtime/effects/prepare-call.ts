import { type CallId, type EventOf, invariant } from '@holdfast/protocol'
import { toShow } from '../../policy/preview.ts'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectDeps } from '../dependencies.ts'
import { factsOf } from './call-facts.ts'
import { isOffered } from './offered.ts'

/** Finds out what a call would do. It looks and changes nothing, so it may run again after a crash. */
export async function prepareCall(
  parts: EffectDeps,
  { call, tool: name }: Extract<Effect, { type: 'prepare-call' }>,
): Promise<Report> {
  const { origin } = parts.state()
  invariant(origin, 'a call needs a started session')
  const atMs = parts.clock.now()
  const unusable = (why: string): Report => ({ type: 'call.prepared', call, found: { unusable: why }, atMs })
  const tool = parts.tools.find(name)
  if (!tool || !isOffered(origin, tool)) return unusable(`There is no tool ${name}.`)
  const { args } = await readCall(parts, call)
  const prepared = await tool.prepare(args, { workdir: origin.workdir })
  if (prepared.type === 'unusable') return unusable(prepared.message)
  const facts = await factsOf(parts, origin.workdir, tool, args)
  return {
    type: 'call.prepared',
    call,
    found: { facts, argsHash: facts.argsHash, preview: toShow(prepared.preview) },
    atMs,
  }
}

export async function readCall({ store, session }: EffectDeps, call: CallId): Promise<EventOf<'call.requested'>> {
  const [record] = await store.read(session, { after: call - 1, upTo: call, limit: 1 })
  if (!record || 'lost' in record || record.event.type !== 'call.requested')
    throw new Error(`call ${call} cannot be read`)
  return record.event
}
