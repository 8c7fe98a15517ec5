// Uses a store of the program: any object that fulfils the `Store` port. This one wraps the store in memory.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'
import { createMemoryStore, openFileBlobs, orThrow } from 'holdfast/store'
import { createAuditedStore } from './audited-store.ts' // yours

const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))

await using holdfast = await openHoldfast({
  store: createAuditedStore(createMemoryStore(), console.log),
  blobs: orThrow(await openFileBlobs(join(folder, 'blobs'))),
})
const session = await holdfast.startSession({ model: 'demo/agent' })
console.log(await session.prompt('count to 3').text())
