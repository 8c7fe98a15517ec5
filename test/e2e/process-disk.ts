import { execFileSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { canRun } from './run-shell.ts'

/** Makes the disk full for one process: with `prlimit` the system refuses its writes to files until the limit is lifted. */
export const processDisk = {
  canBeFilled: process.platform === 'linux' && canRun('prlimit'),
  fill: (pid: number | undefined) => limit(pid, '0'),
  makeRoom: (pid: number | undefined) => limit(pid, 'unlimited'),
}

// Written directly, because a test runner may hide output, and a skipped test must not look like a passed one.
if (!processDisk.canBeFilled) writeSync(2, '\nNOT RUN: what a full disk does: it needs prlimit on Linux.\n')

const limit = (pid: number | undefined, bytes: string) =>
  void execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
