// Not compiled by the tests of Dramatis, which have no Unreal Engine.
using System.IO;
using UnrealBuildTool;

public class Dramatis : ModuleRules
{
    public Dramatis(ReadOnlyTargetRules Target) : base(Target)
    {
        PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
        CppStandard = CppStandardVersion.Cpp17;
        bEnableExceptions = true;
        PublicDependencyModuleNames.AddRange(new[] { "Core", "CoreUObject", "Engine", "WebSockets", "AudioMixer" });
        // The headers of ../../include, copied into this module.
        PublicIncludePaths.Add(Path.Combine(ModuleDirectory, "include"));
    }
}
