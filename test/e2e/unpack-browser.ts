import chromium from '@sparticuz/chromium'

/**
 * Unpacks Chromium before any test starts it. Otherwise several test files do so at once on a new machine, and one of them
 * starts a program that another is still writing (ETXTBSY).
 */
export async function setup(): Promise<void> {
  await chromium.executablePath()
}
