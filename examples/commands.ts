// Lists the slash commands of a session, and sends two of them.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

const home = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
await mkdir(join(home, 'config/commands'), { recursive: true })
await writeFile(
  join(home, 'config/commands/count.md'),
  '---\ndescription: Counts.\nargument-hint: <number>\n---\ncount to $1\n',
)
await using holdfast = await openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: home, DEMO_PACE: '0' } })
const session = await holdfast.startSession({ workdir: home, model: 'demo/agent' })

for (const { name, arguments: named, description } of await session.getCommands())
  console.log(`/${name} ${named ?? ''}: ${description}`)
console.log(await session.prompt('/count 3').text())
const { ran } = await session.prompt('/plan').result()
console.log(ran, await session.status())
