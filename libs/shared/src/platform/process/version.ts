/** The version of this build, which equals that of the workspace's package.json (a spec compares them). */
export const VERSION = '0.1.0';
