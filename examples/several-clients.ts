// Two clients share a session: one drives, the other watches and then takes over.
import { HoldfastError, openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({ store: 'memory:' })
const session = await holdfast.startSession({ workdir: '.', model: 'demo/agent' })

// The first client drives. The next ones watch; `mayDrive` lets a viewer take control later.
await using anna = await session.attach({ client: 'anna' })
await using ben = await session.attach({ client: 'ben', role: 'viewer', mayDrive: true })
console.log(`anna: ${anna.role}, ben: ${ben.role}`)
console.log(await anna.prompt('count to 2').text())

try {
  await ben.rename('Mine')
} catch (error) {
  if (!(error instanceof HoldfastError)) throw error
  console.log(`ben: ${error.code}`) // a viewer changes nothing
}

await ben.claimDriver({ takeOver: true })
console.log(`anna: ${await session.subscriberRole('anna')}, ben: ${await session.subscriberRole('ben')}`)
// `as` is the session in the name of a client that is attached, for every method.
console.log(await session.as('ben').prompt('count to 3').text())
