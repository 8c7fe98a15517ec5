import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const shown = 10

/** Prints the slowest files of a run of many, so that nobody has to look for what makes it long. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= shown) return
    const files = modules.map((module) => {
      const { duration, collectDuration, prepareDuration } = module.diagnostic()
      return { path: relative('', module.moduleId), seconds: (duration + collectDuration + prepareDuration) / 1000 }
    })
    const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
    const slowest = files.toSorted((left, right) => right.seconds - left.seconds).slice(0, shown)
    const lines = slowest.map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}\n`)
    process.stdout.write(`\nThe slowest of ${files.length} files, which took ${all.toFixed(0)} s:\n${lines.join('')}`)
  }
}
