import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Result } from '@holdfast/protocol'
import { faultOf } from './ended.ts'

/** A file being written under another name: it is at its own, whole and readable by its owner alone, once kept. */
export interface PrivateFile {
  readonly write: (text: string) => Promise<void>
  keep(): Result<null>
  drop(): void
}

export type PrivateFileOptions = {
  /** Whether it may take the place of a file that is there. */
  readonly replaces: boolean
  readonly pid: number
}

export function openPrivateFile(path: string, { replaces, pid }: PrivateFileOptions): Result<PrivateFile> {
  if (existsSync(path) && statSync(path).isDirectory()) return refuse(`${path} is a directory.`, path)
  if (!replaces && existsSync(path)) return refuse(`${path} exists; --force replaces it.`, path)
  if (!existsSync(dirname(path))) return refuse(`There is no directory ${dirname(path)}.`, path)
  const draft = join(dirname(path), `.${basename(path)}.${pid}.tmp`)
  const file = openSync(draft, 'wx', 0o600)
  fchmodSync(file, 0o600) // whatever the umask
  const drop = () => rmSync(draft, { force: true })
  return {
    ok: true,
    value: {
      write: async (text) => {
        writeAll(file, Buffer.from(text))
      },
      keep() {
        fsyncSync(file)
        closeSync(file)
        try {
          // A link refuses to replace, so nobody's file is lost that came while we wrote.
          if (replaces) renameSync(draft, path)
          else linkSync(draft, path)
          return { ok: true, value: null }
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
          return refuse(`${path} exists; --force replaces it.`, path)
        } finally {
          drop()
        }
      },
      drop() {
        closeSync(file)
        drop()
      },
    },
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
}

const refuse = (message: string, path: string): Result<never> => ({
  ok: false,
  fault: faultOf('bad_request', message, { path }),
})
