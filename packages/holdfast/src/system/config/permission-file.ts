import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fault, type ListedPermission, ok, PermissionRule, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { ensurePrivateDirectory } from '../files/private-directory.ts'
import { replaceAlone } from '../files/replace-alone.ts'
import { systemErrorCode, systemErrorWords } from '../system-error.ts'
import { rulesMax, tooManyRules } from './rule-limit.ts'

const fileBytesMax = 4 * 1024 * 1024

const RuleFile = z.strictObject({ version: z.literal(1), rules: z.array(PermissionRule).max(rulesMax) })

/** Returns the path of the user's permission rules. No file of a repository grants anything. */
export const permissionPath = (configDir: string): string => join(configDir, 'permissions.json')

/** Returns the id of a rule, which is made from all its fields. */
export const idOfRule = ({ tool, pattern, exact, verdict, workspace }: PermissionRule): string =>
  createHash('sha256')
    .update(JSON.stringify([tool, pattern ?? null, exact ?? false, verdict, workspace ?? null]))
    .digest('hex')
    .slice(0, 8)

/** Returns a rule with its id. */
export const listed = (rule: PermissionRule): ListedPermission => ({ id: idOfRule(rule), ...rule })

/** The user's permission rules, read again when the file was changed, by this process or another. */
export type PermissionFile = ReturnType<typeof createPermissionFile>

export function createPermissionFile(path: string) {
  let known: { readonly mark: string; readonly rules: Result<readonly ListedPermission[]> } | null = null

  /** Returns the rules as they are now; none if there is no file. */
  async function read(): Promise<Result<readonly ListedPermission[]>> {
    const mark = await markOf(path)
    if (known?.mark === mark) return known.rules
    const rules = mark === 'none' ? ok([]) : await readRules(path)
    known = { mark, rules }
    return rules
  }

  /** Changes the rules, one process at a time. A file that cannot be read is not touched. */
  async function change<Value>(
    work: (rules: readonly ListedPermission[]) => Result<{ rules: readonly ListedPermission[] | null; value: Value }>,
  ): Promise<Result<Value>> {
    try {
      ensurePrivateDirectory(dirname(path))
      return await replaceAlone(path, async (write) => {
        const before = (await markOf(path)) === 'none' ? ok([]) : await readRules(path)
        if (!before.ok) return before
        const changed = work(before.value)
        if (!changed.ok) return changed
        const { rules, value } = changed.value
        if (rules === null) return ok(value)
        if (rules.length > rulesMax) return refuse(tooManyRules)
        const all = { version: 1, rules: rules.map(({ id, ...rule }) => rule) }
        const written = await write(`${JSON.stringify(all, null, 2)}\n`)
        return written.ok ? ok(value) : written
      })
    } catch (error) {
      if (systemErrorCode(error) === null) throw error
      return unusable(path, `cannot be written: ${systemErrorWords(error)}.`)
    }
  }

  return {
    path,
    read,
    /** Adds a rule, unless it is there already. Returns it with its id. */
    add: (rule: PermissionRule): Promise<Result<ListedPermission>> =>
      change((rules) => {
        const value = listed(rule)
        return ok({ rules: rules.some(({ id }) => id === value.id) ? null : [...rules, value], value })
      }),
    /** Removes a rule by its id and returns it. Refused: not_found. */
    remove: (id: string): Promise<Result<ListedPermission>> =>
      change((rules) => {
        const value = rules.find((rule) => rule.id === id)
        if (!value) return refuse(noSuchRule(id))
        return ok({ rules: rules.filter((rule) => rule !== value), value })
      }),
  }
}

export const noSuchRule = (id: string) => fault('not_found', `There is no rule ${id.slice(0, 40)}.`, { id })

/** Identifies the content of the file by its times and size: a change replaces the file. */
async function markOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) throw error
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'none' : `unreadable ${code}`
  }
}

async function readRules(path: string): Promise<Result<readonly ListedPermission[]>> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = await file.stat()
    if (!found.isFile() || found.size > fileBytesMax) return unusable(path, 'is not a file of rules.')
    if (process.getuid !== undefined && (found.uid !== process.getuid() || (found.mode & 0o022) !== 0))
      return unusable(path, 'can be changed by other users of this machine. Make it yours alone: chmod 600.')
    const parsed = RuleFile.safeParse(JSON.parse(await file.readFile('utf8')))
    if (parsed.success) return ok(parsed.data.rules.map(listed))
    const where = parsed.error.issues[0]?.path.join('.') ?? ''
    return unusable(path, `is not a file of rules${where === '' ? '' : `: ${where} is wrong`}. Repair or remove it.`)
  } catch (error) {
    if (error instanceof SyntaxError) return unusable(path, 'is not JSON. Repair or remove it.')
    if (systemErrorCode(error) === null) throw error
    return unusable(path, `cannot be read: ${systemErrorWords(error)}.`)
  }
}

const unusable = (path: string, what: string): Result<never> =>
  refuse(fault('storage_error', `${path} ${what}`, { path }))
