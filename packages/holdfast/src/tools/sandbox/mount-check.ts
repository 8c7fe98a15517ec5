import { constants, existsSync } from 'node:fs'
import { open, readlink } from 'node:fs/promises'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'

/** A mount that must be in place before a command runs. */
export type ExpectedMount = {
  readonly path: string
  readonly access: 'ro' | 'rw'
  /** What is seen there: the thing that is at the path now, or anything, for an empty folder or `/dev/null`. */
  readonly shows: 'itself' | 'cover'
}

const statPrograms = ['/usr/bin/stat', '/bin/stat']

/*
 * Runs in the sandbox before the command, with the mounts as they are. Bubblewrap follows links, and another command may swap
 * a folder for a link between our look at it and the mount: then another folder is mounted, or the folder is mounted elsewhere.
 * Each mount has a place of its own, so if all places are mounted and show what they should, nothing was mounted elsewhere.
 */
const script = `wanted=$1 expected=$2 count=$3 stat=$4
shift 4
refuse() {
  echo "sandbox_unavailable: $1 changed while the sandbox was made. Nothing was run. Try again; end commands in the background that replace folders." >&2
  exit 125
}
seen="
"
while read -r _ _ _ _ point options _; do
  seen="$seen\${options%%,*} $point
"
done < /proc/self/mountinfo
while IFS= read -r line; do
  case "$seen" in *"
$line
"*) ;; *) refuse "\${line#* }" ;; esac
done <<end
$wanted
end
index=0 paths=
while [ "$index" -lt "$count" ]; do
  index=$((index + 1))
  paths="$paths \\"\\\${$index}\\""
done
[ "$(eval "\\"\\$stat\\" -c %d:%i --$paths")" = "$expected" ] || refuse "a folder or file of the working directory"
shift "$count"
exec "$@"`

/** Returns the program and arguments that check the mounts, for the front of a command. Refused: sandbox_unavailable. */
export async function checkMounts(mounts: readonly ExpectedMount[]): Promise<Result<readonly string[]>> {
  const stat = statPrograms.find((path) => existsSync(path))
  if (stat === undefined) return refuse(fault('sandbox_unavailable', 'The sandbox needs the program stat in /usr/bin.'))
  const paths = mounts.filter(({ shows }) => shows === 'itself').map(({ path }) => path)
  const found = await Promise.all(paths.map(identify))
  const replaced = paths.find((_, index) => found[index] === null)
  if (replaced !== undefined)
    return refuse(fault('sandbox_unavailable', `${replaced} was replaced while the sandbox was made. Try again.`))
  const wanted = mounts.map(({ path, access }) => `${access} ${escapeMount(path)}`)
  return ok([
    ...['/bin/sh', '-c', script, 'check'],
    ...[wanted.join('\n'), found.join('\n'), String(paths.length), stat, ...paths],
  ])
}

/** Node has no name for it: opens a path without access to what is there. */
const pathOnly = 0o10000000

/** Returns which file is at a path, if no part of the path is a link. */
async function identify(path: string): Promise<string | null> {
  try {
    await using handle = await open(path, pathOnly | constants.O_NOFOLLOW)
    const stats = await handle.stat({ bigint: true })
    const isThere = !stats.isSymbolicLink() && (await readlink(`/proc/self/fd/${handle.fd}`)) === path
    return isThere ? `${stats.dev}:${stats.ino}` : null
  } catch {
    return null // it is gone
  }
}

/** Writes a path as the kernel's list of mounts does. */
const escapeMount = (path: string): string =>
  path.replaceAll(/[ \t\n\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
