// Lists the skills of a session, and lets it follow one.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

const home = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
await mkdir(join(home, 'config/skills/release'), { recursive: true })
await writeFile(
  join(home, 'config/skills/release/SKILL.md'),
  '---\ndescription: Writes release notes.\n---\nRead the commits since the last tag.\n',
)
await using holdfast = await openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: home, DEMO_PACE: '0' } })
const session = await holdfast.startSession({ workdir: home, model: 'demo/agent' })

const skills = await session.listSkills()
for (const { name, state, problems } of skills) console.log(name, state, problems)
await session.activateSkill('release')
console.log(await session.prompt('Write the notes for 1.2.').text())
await session.deactivateSkill('release')
