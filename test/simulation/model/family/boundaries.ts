import fc from 'fast-check'
import { accepted, nothingToDo, refused } from '../state.ts'
import type { CommandTemplate, Family } from './family.ts'

export const setBoundary = (path: string, start: number, end: number): CommandTemplate => ({
  code: `setBoundary('${path}', ${start}, ${end})`,
  command: () => ({ type: 'setBoundary', path, start, end }),
})
export const clearBoundary = (path: string): CommandTemplate => ({
  code: `clearBoundary('${path}')`,
  command: () => ({ type: 'clearBoundary', path }),
})
export const clearBoundaries: CommandTemplate = {
  code: 'clearBoundaries',
  command: () => ({ type: 'clearAllBoundaries' }),
}

/** Commands about the lines that tools may change. */
export const boundaryCommands: Family = {
  templates: [
    fc
      .tuple(
        fc.constantFrom('a.ts', 'b.ts', 'missing'),
        fc.integer({ min: -1, max: 3 }),
        fc.integer({ min: 0, max: 5 }),
      )
      .map(([path, start, end]) => setBoundary(path, start, end)),
    fc.oneof(fc.constantFrom('a.ts', 'b.ts').map(clearBoundary), fc.constant(clearBoundaries)),
  ],
  rules: {
    setBoundary(state, { path, start, end }) {
      if (path === 'missing' || start < 0 || end < start) return refused(state, 'bad_boundary')
      const others = state.boundaries.filter((one) => one.path !== path)
      return accepted({ ...state, boundaries: [...others, { path, start, end }] }, { path, start, end })
    },
    clearBoundary(state, { path }) {
      const others = state.boundaries.filter((one) => one.path !== path)
      return others.length === state.boundaries.length ? nothingToDo(state) : accepted({ ...state, boundaries: others })
    },
    clearAllBoundaries: (state) =>
      state.boundaries.length === 0 ? nothingToDo(state) : accepted({ ...state, boundaries: [] }),
  },
}
