// Closes everything in the middle, opens it again, goes back a turn and forks.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

const workdir = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
const store = `sqlite:${join(workdir, 'sessions.db')}`

const first = await openHoldfast({ store })
const begun = await first.startSession({ workdir, model: 'demo/agent' })
await begun.prompt('count to 2').text()
await begun.prompt('count to 3').text()
await first.close()

await using holdfast = await openHoldfast({ store })
const session = await holdfast.latest(workdir)
if (!session) throw new Error('The session is gone.')
const texts = async () => (await session.messages()).flatMap((one) => (one.kind === 'user' ? [one.text] : []))
console.log('again:', await texts())

const { branch } = await session.branchAt(0) // back to the end of the first turn
console.log('after branchAt:', await texts(), 'saved as', branch)

await session.prompt('count to 4').text()
console.log('new line:', await texts())

await session.switchBranch(branch)
console.log('after switchBranch:', await texts())

const fork = await holdfast.fork(session.id)
console.log('fork has', (await fork.metadata()).turnCount, 'turns and another id:', fork.id !== session.id)
