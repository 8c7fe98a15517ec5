import type { CatalogueEntry, Draft, Listed, Store } from '@holdfast/core/ports'
import type { BlobHash, Meta, StepId, Trust } from '@holdfast/protocol'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { orThrow, type Result } from '@holdfast/protocol/result'
import { decodeRecord } from '../../stored-record.ts'
import { unpackRecords } from '../rows/packed-page.ts'
import type { ReadRequests, StoredDraft, StoredEntry, StoredListed, StoredTrust } from '../rows/requests.ts'

/** Asks a reader on this thread, or one in a worker. */
type Ask = <Name extends keyof ReadRequests>(
  name: Name,
  ...args: Parameters<ReadRequests[Name]>
) => Result<ReturnType<ReadRequests[Name]>> | Promise<Result<ReturnType<ReadRequests[Name]>>>

/** Creates the read methods of the store port. A storage fault is thrown where the port has no result to return it in. */
export function createReadMethods(ask: Ask) {
  const read = async <Name extends keyof ReadRequests>(name: Name, ...args: Parameters<ReadRequests[Name]>) =>
    orThrow(await ask(name, ...args))

  return {
    read: async (session, range) => unpackRecords(await read('read', session, range)),
    readRefs: async (session, calls) => (await read('readRefs', session, calls)).map(decodeRecord),
    async findCommand(session, commandId) {
      const found = await read('findCommand', session, commandId)
      const record = found === null ? null : decodeRecord(found)
      if (record === null || !('lost' in record)) return record
      const message = `Command ${commandId} was admitted at seq ${record.seq}, but its record is damaged.`
      throw new HoldfastError(fault('log_damaged', message, { session, seq: record.seq }))
    },
    commandHash: (session, commandId) => read('commandHash', session, commandId),
    async list(request) {
      const { sessions, next } = await read('list', request)
      return { sessions: sessions.map(decodeListed), next }
    },
    find: (name) => read('find', name),
    search: async (request) => ask('search', request),
    busy: () => read('busy'),
    async entry(session) {
      const row = await read('entry', session)
      return row === null ? null : { ...row, entry: decodeEntry(row.entry) }
    },
    nodes: () => read('nodes'),
    async loadDraft(session) {
      const draft = await read('loadDraft', session)
      return draft === null ? null : decodeDraft(draft)
    },
    loadSnapshot: (session, fold) => read('loadSnapshot', session, fold),
    workspaceTrust: async (workspace) => (await read('workspaceTrust', workspace)).map(decodeTrust),
    tokens: () => read('tokens'),
    spentOn: (day, of) => read('spentOn', day, of),
    listSpending: (day, limit) => read('listSpending', day, limit),
    caps: () => read('caps'),
    blobsInUse: async () => async (hashes) => new Set(await read('blobsInUse', hashes)),
    refersTo: (session, hash) => read('refersTo', session, hash),
  } satisfies Partial<Store>
}

// Holdfast encoded these texts: they are parsed, not validated.

export const decodeListed = (row: StoredListed): Listed => ({ ...row, meta: JSON.parse(row.meta) as Meta })

export const decodeEntry = (entry: StoredEntry): CatalogueEntry => ({ ...entry, meta: JSON.parse(entry.meta) as Meta })

export const decodeDraft = ({ step, parts }: StoredDraft): Draft => ({
  step: step as StepId,
  parts: JSON.parse(parts) as Draft['parts'],
})

export const decodeTrust = ({ tool, argsHash }: StoredTrust): Trust => ({
  tool,
  scope: 'workspace',
  ...(argsHash !== '' && { argsHash: argsHash as BlobHash }),
})
