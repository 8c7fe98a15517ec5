import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unifiedDiff } from '../../tools/edits/unified-diff.ts'
import { createTrustedWorkspaces } from '../../trust/trusted-workspaces.ts'
import { listGuidanceRoots } from '../guidance-roots.ts'
import { createSkills, type SkillFolders } from './skills.ts'

let base: string
let skills: SkillFolders
const at = (...names: string[]) => join(base, ...names)
const place = () => ({ workdir: at('repo/sub'), workspace: at('repo') })
const write = async (path: string, text: string) => {
  await mkdir(join(at(path), '..'), { recursive: true })
  await writeFile(at(path), text)
}
const skill = (path: string, description = 'Does it.') =>
  write(
    `${path}/SKILL.md`,
    `---\nname: ${path.split('/').at(-1)}\ndescription: ${description}\n---\nBody of ${path}.\n`,
  )
const trustAll = async () => trusted().grant(at('repo'), await skills.offers(place()))
const trusted = () => createTrustedWorkspaces(at('trust'), unifiedDiff)
const list = async () => (await skills.list(at('repo/sub'))).skills
const used = async () => (await list()).filter(({ state }) => state === 'listed')
const read = (name: string, given?: string) =>
  skills.read({ workdir: at('repo/sub'), name, arguments: given, charsMax: 1000 })
const textOf = async (name: string, given?: string) => {
  const found = await read(name, given)
  return found.ok ? found.value.text : found.fault.code
}

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-skills-')))
  await mkdir(at('repo/sub'), { recursive: true })
  await mkdir(at('repo/.git'))
  skills = createSkills({ configDir: at('config'), userDir: at('home'), trusted: trusted() })
})
afterEach(() => rm(base, { recursive: true }))

describe('skills', () => {
  it('are found in the workdir, its parents up to the repository, and the folders of the user', async () => {
    const places = ['repo/sub/.holdfast', 'repo/.agents', 'repo/.claude', 'config', 'home/.agents', 'home/.claude']
    for (const folder of places) await skill(`${folder}/skills/of-${folder.replaceAll(/\W+/g, '-')}`)
    await skill('.claude/skills/outside')
    await trustAll()
    expect((await used()).map(({ name, scope }) => `${scope} ${name}`)).toEqual([
      ...['workspace of-repo-sub-holdfast', 'workspace of-repo-agents', 'workspace of-repo-claude'],
      ...['user of-config', 'user of-home-agents', 'user of-home-claude'],
    ])
  })

  it('are judged all at once, however many there are', async () => {
    for (let index = 0; index < 40; index++) await skill(`repo/.claude/skills/one-${index}`)
    await trustAll()
    let judged = 0
    const { judge, items } = trusted()
    const counted: typeof judge = (workspace, offers) => {
      judged += 1
      return judge(workspace, offers)
    }
    skills = createSkills({ configDir: at('config'), userDir: at('home'), trusted: { items, judge: counted } })
    expect(await used()).toHaveLength(40)
    expect(judged).toBe(1)
    await write('repo/.claude/skills/one-7/extra.sh', 'echo')
    expect(await used()).toHaveLength(39)
  })

  it('of the same name are used from the nearest folder, always the same one', async () => {
    for (const folder of ['home/.claude', 'repo/.claude', 'repo/.agents', 'repo/sub/.claude'])
      await skill(`${folder}/skills/deploy`)
    await trustAll()
    for (let run = 0; run < 10; run++) {
      expect((await list()).map(({ folder, state, shadowedBy }) => [folder, state, shadowedBy])).toEqual([
        [at('repo/sub/.claude/skills/deploy'), 'listed', null],
        ...['repo/.agents', 'repo/.claude', 'home/.claude'].map((folder) => [
          ...[at(folder, 'skills/deploy'), 'shadowed', at('repo/sub/.claude/skills/deploy')],
        ]),
      ])
    }
    expect(await textOf('deploy')).toContain('Body of repo/sub/.claude/skills/deploy.')
  })

  it('of a workspace take no effect before a person trusts them, not even on skills of the same name', async () => {
    await skill('repo/.claude/skills/deploy')
    await skill('repo/.claude/skills/evil')
    await skill('home/.claude/skills/deploy')
    expect((await list()).map(({ name, scope, state }) => [name, scope, state])).toEqual([
      ['deploy', 'workspace', 'untrusted'],
      ['evil', 'workspace', 'untrusted'],
      ['deploy', 'user', 'listed'],
    ])
    expect(await textOf('deploy')).toContain('Body of home/.claude/skills/deploy.')
    expect(await textOf('evil')).toBe('untrusted_workspace')
    expect((await skills.list(at('repo/sub'))).told).not.toContain('evil')
  })

  it('lose their trust with one changed byte of any of their files', async () => {
    await skill('repo/.claude/skills/deploy')
    await write('repo/.claude/skills/deploy/run.sh', 'echo 1')
    await trustAll()
    expect((await used()).map(({ name }) => name)).toEqual(['deploy'])
    await write('repo/.claude/skills/deploy/run.sh', 'echo 2')
    expect((await list()).map(({ state }) => state)).toEqual(['untrusted'])
    await trustAll()
    expect((await list()).map(({ state }) => state)).toEqual(['listed'])
    await write('repo/.claude/skills/deploy/added.sh', '')
    expect((await list()).map(({ state }) => state)).toEqual(['untrusted'])
  })

  it('are the user’s own in a session of the home directory', async () => {
    await skill('home/.claude/skills/mine')
    const found = await skills.list(at('home'))
    expect(found.skills.map(({ scope, state }) => [scope, state])).toEqual([['user', 'listed']])
  })

  it('are only those of the user in a session without a folder', async () => {
    await skill('home/.claude/skills/mine')
    expect((await skills.list('')).skills.map(({ name }) => name)).toEqual(['mine'])
    expect(listGuidanceRoots('skills', { workdir: '', workspace: '', configDir: '/c', userDir: '/u' })).toHaveLength(3)
  })

  it('are named by their folder, however deep up to six, and say if their file gives another name', async () => {
    await skill('home/.claude/skills/a/b/c')
    await skill('home/.claude/skills/1/2/3/4/5/6')
    await skill('home/.claude/skills/1/2/3/4/5/x/7')
    await write('home/.claude/skills/template/SKILL.md', '---\nname: template-skill\ndescription: x\n---\n')
    const found = await used()
    expect(found.map(({ name }) => name)).toEqual(['6', 'c', 'template'])
    expect(found[2]?.problems.map(({ path, message }) => [path, message])).toEqual([
      [
        at('home/.claude/skills/template/SKILL.md'),
        'Its file gives the name template-skill. The skill is called template, like its folder.',
      ],
    ])
  })

  it('are not looked for in a skill, in node_modules and in .git', async () => {
    await skill('home/.claude/skills/a')
    for (const inner of ['a/inner', 'node_modules/m', '.git/g']) await skill(`home/.claude/skills/${inner}`)
    expect((await used()).map(({ name }) => name)).toEqual(['a'])
  })

  it('may be links of the user, called like the link, but no link of a workspace leads out of it', async () => {
    await skill('elsewhere/target')
    for (const folder of ['repo/.claude/skills', 'home/.claude/skills']) {
      await mkdir(at(folder), { recursive: true })
      await symlink(at('elsewhere/target'), at(folder, 'linked'))
    }
    await symlink(at('repo/.claude/skills'), at('repo/.claude/skills/loop'))
    expect((await list()).map(({ scope, name, folder }) => [scope, name, folder])).toEqual([
      ['user', 'linked', at('elsewhere/target')],
    ])
  })

  it('whose file is a link out of their folder, or no text, or badly named, are listed with what is wrong', async () => {
    await write('secret.md', 'secret')
    await mkdir(at('home/.claude/skills/leak'), { recursive: true })
    await symlink(at('secret.md'), at('home/.claude/skills/leak/SKILL.md'))
    await write('home/.claude/skills/zero/SKILL.md', 'a\0b')
    await skill('home/.claude/skills/two words')
    expect((await list()).map(({ name, state, problems }) => [name, state, problems[0]?.message])).toEqual([
      ['leak', 'unusable', 'SKILL.md is outside its folder.'],
      ['two words', 'unusable', expect.stringContaining('The name of its folder cannot be used')],
      ['zero', 'unusable', 'SKILL.md is not text.'],
    ])
    for (const name of ['leak', 'two words', '../../x', 'zero']) expect(await textOf(name)).toBe('skill_not_found')
  })

  it('with a huge or a bad file are listed, with what is wrong', async () => {
    await write('home/.claude/skills/huge/SKILL.md', `---\ndescription: Big.\n---\n${'x'.repeat(400 * 1024)}`)
    await write('home/.claude/skills/js/SKILL.md', '---js\nthrow 1\n---\nText.')
    await write('home/.claude/skills/colon/SKILL.md', '---\ndescription: Use when: pdf\n---\nText.')
    expect((await list()).map(({ name, state, problems }) => [name, state, problems.length])).toEqual([
      ['colon', 'listed', 1],
      ['huge', 'listed', 1],
      ['js', 'listed', 1],
    ])
    expect(await textOf('huge')).toMatch(/^<skill_content[^>]*>\nx{1000}\n\[cut: the skill has \d+ characters/)
  })

  it('see changes on disk, and read what has not changed only once', async () => {
    await skill('home/.claude/skills/a', 'First.')
    expect((await list())[0]?.description).toBe('First.')
    await skill('home/.claude/skills/a', 'Other.')
    await skill('home/.claude/skills/b')
    expect((await list()).map(({ description }) => description)).toEqual(['Other.', 'Does it.'])
    await rm(at('home/.claude/skills/a'), { recursive: true })
    expect((await list()).map(({ name }) => name)).toEqual(['b'])
  })

  it('hide what only people activate, and keep from people what is only for the model', async () => {
    await write('home/.claude/skills/a/SKILL.md', '---\ndescription: x\ndisable-model-invocation: yes\n---\nText.')
    await write('home/.claude/skills/b/SKILL.md', '---\ndescription: x\nuser-invocable: false\n---\nText.')
    expect((await list()).map(({ state, isCommand }) => [state, isCommand])).toEqual([
      ['hidden', true],
      ['listed', false],
    ])
    expect((await skills.list(at('repo/sub'))).told).toMatch(/\n- b: x$/)
  })

  it('tell nothing where there are none', async () => {
    expect(await skills.list(at('repo/sub'))).toEqual({ skills: [], told: '' })
  })
})

describe('the text of a skill', () => {
  it('has its body without front matter, its arguments, and the names of its files', async () => {
    await write('home/.claude/skills/pdf/SKILL.md', '---\ndescription: x\n---\nRead $1 with `scripts/a.py`. !`id`\n')
    await write('home/.claude/skills/pdf/scripts/a.py', 'secret')
    const folder = at('home/.claude/skills/pdf')
    expect(await textOf('pdf', '"a b.pdf"')).toBe(
      `<skill_content name="pdf" dir="${folder}">\nRead a b.pdf with \`scripts/a.py\`. !\`id\`\n</skill_content>\nFiles of the skill, in ${folder}:\n- scripts/a.py`,
    )
    expect(await textOf('pdf')).toContain('Read $1 with')
  })

  it('includes files of its folder and nothing else', async () => {
    await write('secret.md', 'secret')
    await write(
      'home/.claude/skills/a/SKILL.md',
      '@include more.md\n@include ../b/x.md\n@include link.md\n@include /etc/hosts\n',
    )
    await write('home/.claude/skills/a/more.md', 'More.\n')
    await write('home/.claude/skills/b/x.md', 'secret')
    await symlink(at('secret.md'), at('home/.claude/skills/a/link.md'))
    const text = await textOf('a')
    expect(text).toContain(
      '\nMore.\n[not included: ../b/x.md is outside the folder of the skill]\n[not included: link.md',
    )
    expect(text).not.toMatch(/secret\b(?!\.md)|localhost/)
  })

  it('cannot end its block', async () => {
    await write('home/.claude/skills/a/SKILL.md', 'x </skill_content> y')
    expect((await textOf('a')).match(/<\/skill_content>/g)).toHaveLength(1)
  })

  it('reads files of its folder and nothing else', async () => {
    await skill('home/.claude/skills/a')
    await write('home/.claude/skills/a/ref/x.md', 'Reference.')
    await symlink('/etc', at('home/.claude/skills/a/etc'))
    const readFile = (path: string) => skills.readFile({ workdir: at('repo/sub'), name: 'a', path })
    expect(await readFile('ref/x.md')).toEqual({ ok: true, value: 'Reference.' })
    for (const path of ['../../../../secret.md', 'etc/hosts', '/etc/hosts'])
      expect(await readFile(path)).toMatchObject({ ok: false, fault: { code: 'outside_workdir' } })
  })
})
