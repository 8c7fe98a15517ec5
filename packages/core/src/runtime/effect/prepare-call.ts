import { createHash } from 'node:crypto'
import { BlobHash, type CallId, type EventOf, invariant } from '@holdfast/protocol'
import type { ToolArgs } from '../../ports/tool.ts'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectParts } from './parts.ts'

/** Finds out what a call would do. It looks and changes nothing, so it may run again after a crash. */
export async function prepareCall(
  parts: EffectParts,
  { call, tool: name }: Extract<Effect, { type: 'prepare-call' }>,
): Promise<Report> {
  const { origin } = parts.state()
  invariant(origin, 'a call needs a started session')
  const tool = isOffered(origin.tools, name) ? parts.tools.find(name) : null
  if (!tool) return { type: 'call.prepared', call, found: { unusable: `There is no tool ${name}.` } }
  const { args } = await readCall(parts, call)
  const prepared = await tool.prepare(args, { workdir: origin.workdir })
  if (prepared.type === 'unusable') return { type: 'call.prepared', call, found: { unusable: prepared.message } }
  const { isDestructive, isReadOnly } = tool
  const facts = { tool: name, isDestructive, isReadOnly }
  return { type: 'call.prepared', call, found: { facts, argsHash: hashArgs(name, args), preview: prepared.preview } }
}

const isOffered = (allowed: readonly string[] | null, name: string) => allowed === null || allowed.includes(name)

export async function readCall({ store, session }: EffectParts, call: CallId): Promise<EventOf<'call.requested'>> {
  const [record] = await store.read(session, { after: call - 1, upTo: call, limit: 1 })
  if (!record || 'lost' in record || record.event.type !== 'call.requested')
    throw new Error(`call ${call} cannot be read`)
  return record.event
}

/** What an approval binds: the tool and its arguments, whatever the order of their names. */
export function hashArgs(tool: string, args: ToolArgs): BlobHash {
  return BlobHash.parse(
    createHash('sha256')
      .update(JSON.stringify([tool, sorted(args)]))
      .digest('hex'),
  )
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
