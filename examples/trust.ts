// Shows what the files of a workspace offer, and trusts it. Before, the model is not told a memory that came with it.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({ store: 'memory:' })
const workdir = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
await mkdir(join(workdir, '.holdfast'))
await writeFile(join(workdir, '.holdfast/MEMORY.md'), '- make is slow here')

const { offers } = await holdfast.workspaceOffers(workdir)
for (const { kind, name, text, verdict } of offers) console.log(`${verdict} ${kind} ${name}: ${text}`)
const untrusted = offers.filter(({ verdict }) => verdict !== 'trusted')
const trusted = await holdfast.trustOffers({
  workdir,
  offers: untrusted.map(({ kind, name, hash }) => ({ kind, name, hash })),
})
console.log(trusted.offers.map(({ verdict }) => verdict))
await holdfast.revokeTrust(workdir)
