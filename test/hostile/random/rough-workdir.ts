import { execFile } from 'node:child_process'
import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A workdir in which much is not what it seems, with folders beside it that no tool may change. */
export interface RoughWorkdir extends AsyncDisposable {
  readonly workdir: string
  /** What no call may change. */
  readonly beside: string
  /** Where the user's memory and the output of commands may be written. */
  readonly own: string
}

export const boundedText = 'one\ntwo\nthree\nfour\nfive\n'

export async function openRoughWorkdir(): Promise<RoughWorkdir> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-random-')))
  const [beside, own] = [join(root, 'beside'), join(root, 'own')]
  const workdir = join(root, 'beside', 'work')
  await mkdir(workdir, { recursive: true })
  await mkdir(own)
  await writeBeside(beside)
  await writeFiles(workdir)
  await writeLinks(workdir, beside)
  await writeRepository(workdir, beside)
  return { workdir, beside, own, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) }
}

async function writeBeside(beside: string): Promise<void> {
  for (const folder of ['outside/deep', 'work-sibling']) await mkdir(join(beside, folder), { recursive: true })
  for (const path of ['outside/secret.txt', 'outside/deep/file.ts', 'work-sibling/notes.txt'])
    await writeFile(join(beside, path), 'one\ntwo\nthree\n')
}

async function writeFiles(workdir: string): Promise<void> {
  for (const folder of ['src/deep', 'empty', '.holdfast', '.hidden', 'bläh', '-n'])
    await mkdir(join(workdir, folder), { recursive: true })
  const texts = {
    'notes.txt': 'one\ntwo\nthree\n',
    'bounded.txt': boundedText,
    'src/a.ts': 'export const a = 1\nexport const b = 2\n'.repeat(50),
    'src/deep/b.ts': 'needle\n',
    'crlf.txt': 'one\r\ntwo\r\n',
    'no-end.txt': 'one\ntwo',
    'empty.txt': '',
    '.gitignore': 'ignored\n*.log\n',
    '.gitattributes': '*.txt diff=evil\n',
    'made.log': 'needle\n',
    '.hidden/x': 'needle\n',
    '.holdfast/MEMORY.md': '- a note\n',
    'with space.txt': 'one\n',
    'with\nline.txt': 'one\n',
    '-n/-rf': 'one\n',
    'bläh/ü.txt': 'één\ntwee\n',
    'page.html': '<p>one<b>two</p>',
    'long.txt': 'x'.repeat(200_000),
  }
  for (const [path, text] of Object.entries(texts)) await writeFile(join(workdir, path), text)
  await writeFile(join(workdir, 'binary.bin'), Buffer.from([0, 1, 2, 0xff, 0xfe, 0]))
  await writeFile(join(workdir, 'utf16.txt'), Buffer.from('\ufeffone\ntwo\n', 'utf16le'))
  await writeFile(join(workdir, 'latin.txt'), Buffer.from('é\ntwo\n', 'latin1'))
  await writeFile(join(workdir, 'image.png'), Buffer.from('89504e470d0a1a0a', 'hex'))
  await writeFile(join(workdir, 'paper.pdf'), '%PDF-1.4 broken')
  await promisify(execFile)('mkfifo', [join(workdir, 'pipe')])
}

async function writeLinks(workdir: string, beside: string): Promise<void> {
  const links = {
    'link-in': 'notes.txt',
    'link-in-folder': 'src',
    'link-out': '../outside/secret.txt',
    'link-out-absolute': join(beside, 'outside', 'secret.txt'),
    'link-out-folder': '../outside',
    'link-up': '..',
    'link-dangling-in': 'not-there',
    'link-dangling-out': '../outside/not-there',
    'link-loop': 'link-loop',
    'link-chain': 'link-out-folder/deep',
    'link-pipe': 'pipe',
  }
  for (const [path, target] of Object.entries(links)) await symlink(target, join(workdir, path))
  // A write changes both names, which a person is asked about each time: so the other one may change.
  await writeFile(join(beside, 'linked.ts'), 'one\ntwo\n')
  await link(join(beside, 'linked.ts'), join(workdir, 'hard-link.ts'))
}

/** A repository whose configuration runs programs that leave a mark outside. */
async function writeRepository(workdir: string, beside: string): Promise<void> {
  const git = (...words: readonly string[]) => promisify(execFile)('git', words, { cwd: workdir })
  await git('init', '-q', '--template=')
  await git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-q', '--allow-empty', '-m', 'Begin')
  const mark = (name: string) => `touch ${join(beside, 'outside', `ran-${name}`)}; false`
  await git('config', 'diff.evil.textconv', mark('textconv'))
  await git('config', 'diff.external', mark('external'))
  await git('config', 'core.pager', mark('pager'))
  await git('config', 'core.editor', mark('editor'))
  await git('config', 'core.fsmonitor', mark('fsmonitor'))
}
